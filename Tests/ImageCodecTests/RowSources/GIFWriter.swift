/// Writes GIFs of any structure.
struct GIFWriter {
  /// When the encoder empties its table.
  enum Clearing {
    case never
    case whenFull
    /// After this many codes.
    case every(Int)
  }

  struct Frame {
    var left = 0
    var top = 0
    var width: Int
    var height: Int
    var indices: [UInt8]
    var palette: [UInt8]?
    var transparent: UInt8?
    var disposal: UInt8 = 0
    var isInterlaced = false
    var codeSize = 8
    var clearing = Clearing.whenFull
    var blockLength = 255
    var endsWithCode = true
  }

  var width: Int
  var height: Int
  var palette: [UInt8]?
  var frames: [Frame]

  var file: [UInt8] {
    var bytes = Array("GIF89a".utf8) + Self.word(width) + Self.word(height)
    bytes += [Self.flags(palette), 0, 0] + (palette ?? [])
    bytes += [0x21, 0xFE, 3] + Array("abc".utf8) + [0]
    for frame in frames { bytes += Self.bytes(frame) }
    return bytes + [0x3B]
  }

  private static func word(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }

  /// The flags for a palette of 2, 4, … 256 colours.
  private static func flags(_ palette: [UInt8]?) -> UInt8 {
    guard let palette else { return 0 }
    return 0x80 | UInt8((palette.count / 3).trailingZeroBitCount - 1)
  }

  private static func bytes(_ frame: Frame) -> [UInt8] {
    var bytes: [UInt8] = [
      0x21, 0xF9, 4, frame.disposal << 2 | (frame.transparent == nil ? 0 : 1), 10, 0, frame.transparent ?? 0, 0, 0x2C,
    ]
    bytes += [frame.left, frame.top, frame.width, frame.height].flatMap { word($0) }
    bytes += [flags(frame.palette) | (frame.isInterlaced ? 0x40 : 0)] + (frame.palette ?? [])
    bytes.append(UInt8(frame.codeSize))
    let codes = compress(frame)
    for start in stride(from: 0, to: codes.count, by: frame.blockLength) {
      let block = codes[start..<min(codes.count, start + frame.blockLength)]
      bytes += [UInt8(block.count)] + block
    }
    return bytes + [0]
  }

  /// The order in which rows are stored.
  private static func rowOrder(_ frame: Frame) -> [Int] {
    guard frame.isInterlaced else { return Array(0..<frame.height) }
    return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: frame.height, by: $0.1)) }
  }

  private static func compress(_ frame: Frame) -> [UInt8] {
    let pixels = rowOrder(frame).flatMap { frame.indices[$0 * frame.width..<($0 + 1) * frame.width] }
    let clear = 1 << frame.codeSize
    var (bytes, window, held) = ([UInt8](), 0, 0)
    var (width, next, table, written) = (frame.codeSize + 1, clear + 2, [Int: Int](), 0)
    func put(_ code: Int) {
      window |= code << held
      held += width
      while held >= 8 {
        bytes.append(UInt8(window & 255))
        window >>= 8
        held -= 8
      }
      written += 1
    }
    func reset() {
      put(clear)
      (width, next, table, written) = (frame.codeSize + 1, clear + 2, [:], 0)
    }
    reset()
    var prefix = -1
    for pixel in pixels {
      if prefix < 0 {
        prefix = Int(pixel)
        continue
      }
      let key = prefix << 8 | Int(pixel)
      if let code = table[key] {
        prefix = code
        continue
      }
      put(prefix)
      prefix = Int(pixel)
      if case .every(let count) = frame.clearing, written >= count {
        reset()
      } else if next < 4096 {
        table[key] = next
        // The decoder knows an entry one code later.
        if next == 1 << width, width < 12 { width += 1 }
        next += 1
      } else if case .whenFull = frame.clearing {
        reset()
      }
    }
    if prefix >= 0 { put(prefix) }
    // The decoder has one more entry by now.
    if next == 1 << width, width < 12 { width += 1 }
    if frame.endsWithCode { put(clear + 1) }
    if held > 0 { bytes.append(UInt8(window & 255)) }
    return bytes
  }
}
