import Foundation

/// Reads of a JPEG the coefficients that a small picture needs, and nothing else.
///
/// At 1/8 of a sequential file, that is libjpeg's picture of that scale: luma and gray are equal sample for sample. Of a
/// progressive file only the scans up to the first that complete the scale are read, so the rest may be missing.
///
/// It walks the body once through buffers of bounded length; what it keeps are the components' planes and the picture.
struct CoefficientReader {
  /// Whether JPEGs are left to this reader unless somebody decides otherwise.
  ///
  /// Not in a debug build: without optimisation it is a hundred times slower, libvips is not. A test that starts a debug
  /// build of `thumbs` gets it there by the environment.
  static let isWorthwhile: Bool = {
    #if DEBUG
      ProcessInfo.processInfo.environment["THUMBNAILER_READS_COEFFICIENTS"] == "1"
    #else
      true
    #endif
  }()
  /// The bytes of a file that are read at a time.
  static let windowLength = 1 << 16
  /// The file.
  let body: ByteSource
  /// The size in its header, as the plan knows it.
  let storedSize: PixelSize
  /// How much is kept.
  let scale: JPEGScale
  /// Whether a body that breaks off gives what there is, the rest in mid-grey, instead of an error.
  var isTolerant = false
  /// Whether it matters that the rest of the file is there, though nothing behind the scans that are needed is decoded.
  var expectsEnd = false
  let cancellation: CancellationFlag
  /// The bytes at a time, for tests; nil for a file's `windowLength`, and all of a body in memory.
  var window: Int?

  /// Reads the picture. Blocks; asks for cancellation once a row of blocks.
  ///
  /// - Throws: `.handedOver` where libvips may know better, `.truncated`, `.damaged`, `.limitExceeded`, `.cancelled`,
  ///   `.unreadableBody`.
  func read() throws(CodecError) -> CoefficientImage {
    switch body {
    case .file:
      return try CoefficientReading(self, memory: nil).run()
    case .memory(let bytes):
      let result = bytes.withUnsafeBytes { memory in
        Result { () throws(CodecError) in try CoefficientReading(self, memory: memory).run() }
      }
      return try result.get()
    }
  }
}

/// What the coefficient reader gives.
struct CoefficientImage {
  /// The picture as stored, not upright: gray or RGB, with the file's ICC profile.
  var raster: Raster
  /// How many bytes of the body were needed: up to and with the marker that ends the last scan.
  var consumedBytes: Int
  /// How many scans were looked through.
  var scans: Int
}
