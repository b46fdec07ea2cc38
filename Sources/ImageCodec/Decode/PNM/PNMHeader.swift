import ThumbnailCore

/// The header of a portable map: bits, grays or colours as text or bytes (PBM, PGM, PPM), or floating-point numbers (PFM).
///
/// Source: netpbm's `pbm(5)`, `pgm(5)`, `ppm(5)` and `pfm(5)`.
struct PNMHeader {
  enum Samples: Equatable {
    /// Bits, where 1 is black: eight in a byte, or one a character.
    case bits
    /// Numbers from 0 to `most`.
    case numbers(most: Int)
    /// 32-bit floating-point numbers in linear light, the bottom row first.
    case floats(isLittleEndian: Bool)
  }

  let size: PixelSize
  /// 1 or 3.
  let channels: Int
  let samples: Samples
  let isText: Bool
  /// The offset of the first sample.
  let start: Int

  /// The longest header in bytes, with its comments.
  private static let longest = 1 << 16

  init(_ body: ByteSource) throws(CodecError) {
    let bytes = try body.bytes(at: 0, length: Self.longest)
    guard bytes.count > 2, bytes[0] == UInt8(ascii: "P") else { throw Self.damaged("no portable map") }
    let kind = Character(Unicode.Scalar(bytes[1]))
    var place = 2
    func token() throws(CodecError) -> String {
      while place < bytes.count, bytes[place].isBlank || bytes[place] == UInt8(ascii: "#") {
        if bytes[place] == UInt8(ascii: "#") {
          while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
        } else {
          place += 1
        }
      }
      let first = place
      while place < bytes.count, !bytes[place].isBlank, bytes[place] != UInt8(ascii: "#") { place += 1 }
      guard place < bytes.count else { throw .truncated(detail: "in the header") }
      return String(decoding: bytes[first..<place], as: UTF8.self)
    }
    func number(_ range: ClosedRange<Int>) throws(CodecError) -> Int {
      let text = try token()
      guard let number = Int(text), range.contains(number) else {
        throw Self.damaged("\(text) where a number should be")
      }
      return number
    }
    size = PixelSize(try number(1...Int(Int32.max)), try number(1...Int(Int32.max)))
    isText = "123".contains(kind)
    channels = "36F".contains(kind) ? 3 : 1
    switch kind {
    case "1", "4": samples = .bits
    case "2", "3", "5", "6": samples = .numbers(most: try number(1...65_535))
    case "F", "f":
      // The sign gives the byte order.
      let scale = try token()
      guard let factor = Double(scale), factor.isFinite, factor != 0 else { throw Self.damaged("a scale of \(scale)") }
      samples = .floats(isLittleEndian: factor < 0)
    default: throw .unsupported("a portable map of the kind P\(kind)")
    }
    // One blank ends the header.
    start = place + 1
  }

  private static func damaged(_ detail: String) -> CodecError { .damaged(.header, detail: detail) }

  /// Whether rows have samples of 16 bits.
  var isDeep: Bool {
    switch samples {
    case .bits: false
    case .numbers(let most): most > 255
    case .floats: true
    }
  }

  /// The bytes of a stored row; an estimate for text.
  var rowBytes: Int {
    switch samples {
    case .bits: (size.width + 7) / 8
    case .numbers(let most): size.width * channels * (most > 255 ? 2 : 1)
    case .floats: size.width * channels * 4
    }
  }

  var probe: ImageProbe {
    var probe = ImageProbe(format: .pnm, storedSize: size)
    (probe.hasAlpha, probe.channels, probe.bitsPerSample, probe.frameCount) = (false, channels, isDeep ? 16 : 8, 1)
    return probe
  }
}

extension UInt8 {
  /// Whether it is white space.
  var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
