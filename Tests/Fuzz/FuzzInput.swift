import Foundation

@testable import ImageCodec
@testable import ThumbnailCore

/// One input: the bytes of a file, and how it is cut into pieces.
///
/// The cuts come from the file's own last bytes, so that any file is an input, and any input a file.
struct FuzzInput {
  let bytes: [UInt8]

  /// The last bytes are what a change of the pieces changes.
  private static let cutCount = 8

  /// A number from 0 to 255, which is another for another `index`.
  func cut(_ index: Int) -> Int {
    let cuts = bytes.suffix(Self.cutCount)
    return cuts.isEmpty ? 0 : Int(cuts[cuts.startIndex + index % cuts.count])
  }

  /// Hands out the bytes piece by piece: mostly a few at a time, now and then some thousands.
  func forEachPiece(_ body: (UnsafeRawBufferPointer) -> Void) {
    bytes.withUnsafeBytes { all in
      var (start, index) = (0, 0)
      while start < all.count {
        let cut = cut(index)
        let length = min(all.count - start, cut < 192 ? 1 + cut % 32 : 1 + (cut - 191) * 64)
        body(UnsafeRawBufferPointer(rebasing: all[start..<start + length]))
        start += length
        index += 1
      }
    }
  }

  /// The same bytes in a file without a name.
  ///
  /// One file serves all inputs: what is returned holds until the next call.
  func asFile() -> ByteSource {
    let file = Self.file
    ftruncate(file.rawValue, 0)
    let written = bytes.withUnsafeBytes { pwrite(file.rawValue, $0.baseAddress, $0.count, 0) }
    require(written == bytes.count, "the input could not be written to a temporary file")
    return .file(file, count: bytes.count)
  }

  private static let file: FileDescriptor = {
    var name = Array("/tmp/thumbnailer-fuzz-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    require(descriptor >= 0, "there is no room for a temporary file")
    unlink(name)
    return FileDescriptor(owning: descriptor)
  }()
}

extension DecodeLimits {
  /// Small, so that an input costs little memory and time.
  static let fuzzing = {
    var limits = DecodeLimits()
    limits.maximumPixels = 1 << 20
    limits.maximumSide = 1 << 14
    limits.maximumFrames = 1000
    return limits
  }()
}
