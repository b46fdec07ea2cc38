/// A Huffman code as a DHT segment defines it: the number of codes of each length, and their symbols.
struct HuffmanCode: Equatable {
  /// The class of a table (Tc).
  enum Use {
    /// Differences of DC coefficients: a symbol is the number of value bits, at most 15.
    case dc
    /// AC coefficients: the high four bits of a symbol are a run of zeros, the low four the number of value bits.
    case ac
  }

  /// The number of codes of each length from 1 to 16 bits.
  var counts: [UInt8]
  /// The symbols in the order of their codes, at most 256.
  var symbols: [UInt8]

  /// The codes in ascending order; nil if the code is invalid, as libjpeg defines it: more codes of a length than fit,
  /// a code of only ones, or a symbol not allowed for the use.
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

  /// One code and its symbol.
  struct Entry {
    var code: Int
    var length: Int
    var symbol: UInt8
    /// The number of zeros before the coefficient.
    var run: Int { Int(symbol >> 4) }
    /// The number of value bits that follow the code.
    var size: Int { Int(symbol & 15) }
  }
}
