/// A QR code of a short text (ISO/IEC 18004): byte mode, error correction of level L, versions 1 to 5, which have a
/// single block of codewords.
struct QRCode {
  /// The codewords of data and of error correction, by version.
  private static let codewords = [(19, 7), (34, 10), (55, 15), (80, 20), (108, 26)]
  /// The bytes that the mode and the length take.
  private static let headLength = 2
  /// The light modules around the code.
  private static let margin = 4
  /// Level L and mask 3, with their own error correction: readers take each of the eight masks.
  private static let format = 0x789d

  /// Whether the mask toggles a module.
  private static func isMasked(_ row: Int, _ column: Int) -> Bool { (row + column).isMultiple(of: 3) }

  /// The modules of a side.
  let side: Int
  /// Whether each module is dark, row by row.
  private var modules: [Bool]
  /// Whether each module belongs to a pattern or to the format, so that it holds no data.
  private var isFixed: [Bool]

  /// The code of a text; nil if it has more than 106 bytes.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let index = Self.codewords.firstIndex(where: { $0.0 - Self.headLength >= bytes.count }) else { return nil }
    side = 21 + 4 * index
    modules = Array(repeating: false, count: side * side)
    isFixed = modules
    drawPatterns()
    draw(Self.codewords(of: bytes, count: Self.codewords[index]))
  }

  subscript(_ row: Int, _ column: Int) -> Bool {
    (0..<side).contains(row) && (0..<side).contains(column) && modules[row * side + column]
  }

  /// Two rows of modules a line, in white and black whatever the colours of the terminal are.
  var lines: [String] {
    stride(from: -Self.margin, to: side + Self.margin, by: 2).map { row in
      let blocks = (-Self.margin..<side + Self.margin).map { column in
        switch (self[row, column], self[row + 1, column]) {
        case (false, false): "█"
        case (false, true): "▀"
        case (true, false): "▄"
        case (true, true): " "
        }
      }
      return "\u{1B}[38;5;231;48;5;16m\(blocks.joined())\u{1B}[0m"
    }
  }

  // MARK: Codewords

  private static func codewords(of bytes: [UInt8], count: (data: Int, correction: Int)) -> [UInt8] {
    // The mode, the length, the bytes and the end: 4, 8, 8 a byte, and 4 bits.
    var halves: [UInt8] = [4]
    for byte in [UInt8(bytes.count)] + bytes { halves += [byte >> 4, byte & 15] }
    halves.append(0)
    var data = stride(from: 0, to: halves.count, by: 2).map { halves[$0] << 4 | halves[$0 + 1] }
    while data.count < count.data { data.append((data.count - bytes.count).isMultiple(of: 2) ? 0xec : 0x11) }
    return data + correction(of: data, count: count.correction)
  }

  /// The remainder of the data as a polynomial over GF(256): a Reed-Solomon code.
  private static func correction(of data: [UInt8], count: Int) -> [UInt8] {
    var divisor = [UInt8](repeating: 0, count: count - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<count {
      for index in divisor.indices {
        divisor[index] = product(divisor[index], root) ^ (index + 1 < count ? divisor[index + 1] : 0)
      }
      root = product(root, 2)
    }
    var remainder = [UInt8](repeating: 0, count: count)
    for byte in data {
      let factor = byte ^ remainder.removeFirst()
      remainder.append(0)
      for index in divisor.indices { remainder[index] ^= product(divisor[index], factor) }
    }
    return remainder
  }

  private static func product(_ one: UInt8, _ other: UInt8) -> UInt8 {
    (0..<8).reversed().reduce(0) { product, bit in
      (product << 1) ^ (product >> 7 == 1 ? 0x1d : 0) ^ (other >> bit & 1 == 1 ? one : 0)
    }
  }

  // MARK: Drawing

  private mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
    guard (0..<side).contains(row), (0..<side).contains(column) else { return }
    modules[row * side + column] = isDark
    isFixed[row * side + column] = true
  }

  private mutating func drawPatterns() {
    for index in 0..<side {
      fix(6, index, index.isMultiple(of: 2))
      fix(index, 6, index.isMultiple(of: 2))
    }
    for (row, column) in [(3, 3), (3, side - 4), (side - 4, 3)] { drawSquares(row, column, radius: 4, light: [2, 4]) }
    if side > 21 { drawSquares(side - 7, side - 7, radius: 2, light: [1]) }
    drawFormat()
  }

  private mutating func drawSquares(_ row: Int, _ column: Int, radius: Int, light: Set<Int>) {
    for down in -radius...radius {
      for right in -radius...radius { fix(row + down, column + right, !light.contains(max(abs(down), abs(right)))) }
    }
  }

  /// Draws level L and the mask, with their error correction, twice.
  private mutating func drawFormat() {
    let bits = Self.format
    for bit in 0..<15 {
      let isDark = bits >> bit & 1 == 1
      fix(bit < 6 ? bit : bit < 8 ? bit + 1 : 8, bit < 8 ? 8 : bit == 8 ? 7 : 14 - bit, isDark)
      fix(bit < 8 ? 8 : side - 15 + bit, bit < 8 ? side - 1 - bit : 8, isDark)
    }
    fix(side - 8, 8, true)
  }

  /// Draws the bits in columns of two, upwards and downwards in turn, from the right, with the mask.
  private mutating func draw(_ codewords: [UInt8]) {
    var next = 0
    for pair in stride(from: side - 1, to: 0, by: -2) {
      for step in 0..<side {
        let row = (side - 1 - pair).isMultiple(of: 4) ? side - 1 - step : step
        // The sixth column has no data.
        for column in pair > 6 ? [pair, pair - 1] : [pair - 1, pair - 2] where !isFixed[row * side + column] {
          let isSet = next < 8 * codewords.count && codewords[next / 8] >> (7 - next % 8) & 1 == 1
          modules[row * side + column] = isSet != Self.isMasked(row, column)
          next += 1
        }
      }
    }
  }
}
