/// The code with the fewest bits for counted symbols, of at most 16 bits each, without the code of ones alone.
struct HuffmanCode {
  /// The number of codes of each length, 1 to 16.
  let lengths: [UInt8]
  /// The symbols by rising lengths.
  let symbols: [UInt8]

  private static let longest = 16

  /// Makes the code of the symbols of 256 that have counts, at least one.
  init(_ counts: UnsafePointer<UInt32>) {
    // Ascending counts, the smaller symbol last. The first is a symbol of its own that gets the code of ones.
    var ranked: [UInt64] = [0]
    ranked.reserveCapacity(257)
    for symbol in 0..<256 where counts[symbol] != 0 {
      ranked.append(UInt64(counts[symbol]) << 8 | UInt64(255 - symbol))
    }
    ranked.sort()
    var lengths = Self.limited(Self.lengths(ranked.map { $0 >> 8 }))
    if let longest = lengths.lastIndex(where: { $0 > 0 }) { lengths[longest] -= 1 }
    self.lengths = lengths.dropFirst().map { UInt8($0) }
    symbols = ranked.dropFirst().reversed().map { 255 - UInt8($0 & 255) }
  }

  /// The number of codes of each length of ascending weights, two or more. Merged weights are ascending, too, so two
  /// queues suffice.
  private static func lengths(_ leaves: [UInt64]) -> [Int] {
    var weights = leaves
    var parents = [Int](repeating: 0, count: 2 * leaves.count - 2)
    var (leaf, merged) = (0, leaves.count)
    while weights.count < 2 * leaves.count - 1 {
      var sum: UInt64 = 0
      for _ in 0..<2 {
        let takesLeaf = leaf < leaves.count && (merged == weights.count || weights[leaf] <= weights[merged])
        let least = takesLeaf ? leaf : merged
        if takesLeaf { leaf += 1 } else { merged += 1 }
        sum += weights[least]
        parents[least] = weights.count
      }
      weights.append(sum)
    }
    var depths = [Int](repeating: 0, count: weights.count)
    var lengths = [Int](repeating: 0, count: max(longest, leaves.count) + 1)
    for node in parents.indices.reversed() {
      depths[node] = depths[parents[node]] + 1
      if node < leaves.count { lengths[depths[node]] += 1 }
    }
    return lengths
  }

  /// Shortens codes of more than 16 bits as the JPEG standard does (K.3): of a pair, one takes the place of their common
  /// prefix, and the other is paired with a shorter code.
  private static func limited(_ lengths: [Int]) -> [Int] {
    var lengths = lengths
    for length in lengths.indices.dropFirst(longest + 1).reversed() {
      while lengths[length] > 0 {
        let shorter = lengths[..<(length - 1)].lastIndex { $0 > 0 } ?? 0
        lengths[length] -= 2
        lengths[length - 1] += 1
        lengths[shorter + 1] += 2
        lengths[shorter] -= 1
      }
    }
    return Array(lengths.prefix(longest + 1))
  }

  /// Writes the entries of an `EntropyWriter` to the places of the symbols.
  func write(into entries: UnsafeMutablePointer<UInt32>) {
    var (code, index): (UInt32, Int) = (0, 0)
    for (shorter, count) in lengths.enumerated() {
      for symbol in symbols[index..<index + Int(count)] {
        // The low half of a symbol is the number of bits that follow its code.
        let size = UInt32(symbol & 15)
        entries[Int(symbol)] = code << size | (UInt32(shorter + 1) + size) << 27
        code += 1
      }
      index += Int(count)
      code <<= 1
    }
  }
}
