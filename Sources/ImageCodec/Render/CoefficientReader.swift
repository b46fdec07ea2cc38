import Foundation
import JPEGCoefficients
import ThumbnailCore

/// Makes a raster of the coefficients of a JPEG: how the codec uses `CoefficientDecoder`.
package struct CoefficientReader {
  /// Whether JPEGs are left to this reader unless somebody decides otherwise.
  ///
  /// Not in a debug build: without optimisation it is a hundred times slower, libvips is not. A test that starts a debug
  /// build of `thumbs` gets it there by the environment.
  package static let isWorthwhile: Bool = {
    #if DEBUG
      ProcessInfo.processInfo.environment["THUMBNAILER_READS_COEFFICIENTS"] == "1"
    #else
      true
    #endif
  }()
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
  /// The bytes at a time, for tests; nil for the decoder's own number.
  var window: Int?

  /// What is read: the picture as stored, not upright, gray or RGB, with the file's ICC profile; how many bytes of the
  /// body that took; and how many scans were looked through.
  typealias Reading = (raster: Raster, consumedBytes: Int, scans: Int)

  /// Reads the picture. Blocks; asks for cancellation once a row of blocks.
  ///
  /// - Throws: `.handedOver` where libvips may know better, `.truncated`, `.damaged`, `.limitExceeded`, `.cancelled`,
  ///   `.unreadableBody`.
  func read() throws(CodecError) -> Reading {
    switch body {
    case .file:
      return try read(memory: nil)
    case .memory(let bytes):
      let result = bytes.withUnsafeBytes { memory in
        Result { () throws(CodecError) in try read(memory: memory) }
      }
      return try result.get()
    }
  }

  private func read(memory: UnsafeRawBufferPointer?) throws(CodecError) -> Reading {
    let decoder = CoefficientDecoder(
      body: body, storedSize: JPEGSize(storedSize.width, storedSize.height), scale: scale, isTolerant: isTolerant,
      expectsEnd: expectsEnd, isCancelled: { [cancellation] in cancellation.isSet }, window: window)
    let image: CoefficientImage
    do throws(JPEGError) {
      image = try decoder.decode(memory: memory)
    } catch {
      throw CodecError(error)
    }
    let raster = try Raster(
      size: PixelSize(image.size.width, image.size.height), bands: image.bands, profile: image.profile
    ) { target in image.compose(into: target) }
    return (raster, image.consumedBytes, image.scans)
  }
}

extension ByteSource: JPEGSource {}

extension JPEGScale {
  /// The size of what is given for a picture of `size` pixels.
  func size(of size: PixelSize) -> PixelSize {
    let scaled = self.size(of: JPEGSize(size.width, size.height))
    return PixelSize(scaled.width, scaled.height)
  }
}

extension CodecError {
  init(_ error: JPEGError) {
    self =
      switch error {
      case .cancelled: .cancelled
      case .handedOver(let reason): .handedOver(reason: reason)
      case .truncated(let detail): .truncated(detail: detail)
      case .damaged(.header, let detail): .damaged(.header, detail: detail)
      case .damaged(.decode, let detail): .damaged(.decode, detail: detail)
      case .tooManyScans(let scans): .limitExceeded(.scans, value: scans, maximum: JPEGScans.most)
      case .unreadable(let detail): .unreadableBody(detail: detail)
      }
  }
}
