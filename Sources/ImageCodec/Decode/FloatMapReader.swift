import CVips
import ThumbnailCore

/// Reads the pixels of a Portable FloatMap (PFM): 32-bit floating-point samples, in linear light, bottom row first.
///
/// libvips 8.14 keeps the file's row order, which is upside down, and treats the samples as display values.
///
/// Source: Paul Debevec's description of the format, as in netpbm's `pfm(5)`.
struct FloatMapReader {
  /// The longest header, in bytes.
  private static let longestHeader = 256
  /// The value of samples whose rows are missing: mid-grey in linear light.
  private static let missing: Float = 0.2
  private static let sampleBytes = 4

  let size: PixelSize
  /// 3 for `PF`, 1 for `Pf`.
  private let channels: Int
  private let isLittleEndian: Bool
  /// The offset of the samples.
  private let start: Int
  private let bytes: UnsafeRawBufferPointer

  /// Nil for other netpbm files. `bytes` are those of the file, and must outlive the reader.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 3, bytes[0] == UInt8(ascii: "P") else { return nil }
    switch bytes[1] {
    case UInt8(ascii: "F"): channels = 3
    case UInt8(ascii: "f"): channels = 1
    default: return nil
    }
    var place = 2
    func token() -> String? {
      while place < min(bytes.count, Self.longestHeader), Self.isBlank(bytes[place]) { place += 1 }
      let first = place
      while place < min(bytes.count, Self.longestHeader), !Self.isBlank(bytes[place]) { place += 1 }
      return String(validating: bytes[first..<place], as: UTF8.self)
    }
    guard let width = token().flatMap({ Int32($0) }), width > 0, let height = token().flatMap({ Int32($0) }),
      height > 0, let scale = token().flatMap({ Double($0) }), scale.isFinite, scale != 0
    else { return nil }
    size = PixelSize(Int(width), Int(height))
    // The sign of the scale gives the byte order.
    isLittleEndian = scale < 0
    // A single white-space byte ends the header.
    start = place + 1
    self.bytes = bytes
  }

  /// All pixels in linear light from 0 to 1, in three channels. With `isTolerant` missing rows are grey.
  func image(isTolerant: Bool) throws(CodecError) -> LibvipsImage {
    let rowBytes = size.width * channels * Self.sampleBytes
    let (needed, overflow) = rowBytes.multipliedReportingOverflow(by: size.height)
    let available = max(0, bytes.count - start)
    guard !overflow, available >= needed || isTolerant && available >= rowBytes else {
      throw .truncated(detail: "\(overflow ? .max : needed) bytes of pixels are announced, \(available) are there")
    }
    return try LibvipsImage.filled(
      size, bands: 3, VIPS_FORMAT_FLOAT, VIPS_INTERPRETATION_scRGB, missing: Self.missing
    ) { target in
      for row in 0..<min(size.height, available / rowBytes) {
        let from = start + row * rowBytes
        let to = (size.height - 1 - row) * size.width * 3
        for sample in 0..<size.width * 3 {
          let source = channels == 3 ? sample : sample / 3
          let bits = bytes.loadUnaligned(fromByteOffset: from + source * Self.sampleBytes, as: UInt32.self)
          target[to + sample] = Float(bitPattern: isLittleEndian ? UInt32(littleEndian: bits) : UInt32(bigEndian: bits))
        }
      }
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
