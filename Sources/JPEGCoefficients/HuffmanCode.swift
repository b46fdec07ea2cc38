/// A Huffman code as a file states it: how many codes there are of each length, and what they stand for.
struct HuffmanCode: Equatable {
  /// What a table decodes.
  enum Use {
    /// Differences of DC coefficients: a symbol is the number of value bits, at most 15.
    case dc
    /// AC coefficients: a run of zeros in the upper half of a symbol, the number of value bits in the lower.
    case ac
  }

  /// The number of codes of 1 to 16 bits.
  var counts: [UInt8]
  /// The symbols in the order of their codes, at most 256.
  var symbols: [UInt8]

  /// The codes in ascending order; nil where they do not add up: more codes of a length than fit, a code of nothing but
  /// ones, or a symbol that its use does not have. What libjpeg refuses is refused.
  func entries(for use: Use) -> [Entry]? {
    guard counts.count == 16, counts.reduce(0, { $0 + Int($1) }) == symbols.count, symbols.count <= 256 else {
      return nil
    }
    if use == .dc && symbols.contains(where: { $0 > 15 }) { return nil }
    var entries: [Entry] = []
    entries.reserveCapacity(symbols.count)
    var code = 0
    for length in 1...16 {
      for _ in 0..<counts[length - 1] {
        entries.append(Entry(code: code, length: length, symbol: symbols[entries.count]))
        code += 1
      }
      if counts[length - 1] > 0 && code >= 1 << length { return nil }
      code <<= 1
    }
    return entries
  }

  /// One code and what it stands for.
  struct Entry {
    var code: Int
    var length: Int
    var symbol: UInt8
    /// The zeros before the coefficient.
    var run: Int { Int(symbol >> 4) }
    /// The number of bits of the coefficient's value, which follow the code.
    var size: Int { Int(symbol & 15) }
  }
}
