import Testing

@testable import JPEGCoefficients

@Suite struct HuffmanTableTests {
  /// Codes of all lengths, among them long ones.
  private static let code = HuffmanCode(
    counts: [0, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    symbols: [0x01, 0x00, 0x12, 0xF0, 0x03, 0x21, 0x05, 0x31, 0x0A, 0x41, 0x06, 0x51, 0x71, 0xF1, 0x10, 0x02])

  /// What the bits say symbol by symbol: those that begin in the first `width` bits and whose codes are within.
  private func walk(
    _ bits: UInt64, _ entries: [HuffmanCode.Entry], width: Int, isProgressive: Bool
  ) -> [(dropped: Int, passed: Int, isEnd: Bool)] {
    var steps: [(dropped: Int, passed: Int, isEnd: Bool)] = []
    var (dropped, passed) = (0, 0)
    while dropped < width {
      let found = entries.first { Int((bits << UInt64(dropped)) >> UInt64(64 - $0.length)) == $0.code }
      guard let found, dropped + found.length <= width else { break }
      let isEnd = found.size == 0 && found.run != 15
      if isEnd && isProgressive && found.run > 0 { break }
      dropped += found.length + found.size
      passed += isEnd ? 0 : found.run + 1
      if passed > 63 { break }
      steps.append((dropped, passed, isEnd))
      if isEnd { break }
    }
    return steps
  }

  @Test(arguments: [false, true]) func packedEntriesSayWhatSymbolsSay(_ isProgressive: Bool) throws {
    let entries = try #require(Self.code.entries(for: .ac))
    let table = try #require(HuffmanTable(Self.code, use: .ac, isProgressive: isProgressive))
    for index in 0..<1 << HuffmanTable.packedBits {
      let bits = UInt64(index) << UInt64(64 - HuffmanTable.packedBits)
      let entry = table.lookup.packed[index]
      let steps = walk(bits, entries, width: HuffmanTable.packedBits, isProgressive: isProgressive)
      let (dropped, passed) = (Int(entry & 0xFF), Int(entry >> 8))
      if entry == HuffmanTable.unknown {
        #expect(steps.isEmpty, "\(index)")
      } else {
        // As many whole symbols as there are, or fewer.
        #expect(
          steps.contains { $0.dropped == dropped && $0.passed + ($0.isEnd ? HuffmanTable.endOfBlock : 0) == passed },
          "\(index)")
        #expect(dropped <= 28)
        #expect(steps.last?.dropped == dropped || steps.last?.passed ?? 0 > 40, "\(index)")
      }
    }
    withExtendedLifetime(table) {}
  }

  @Test func valuedEntriesSayWhatTheFirstSymbolSays() throws {
    let entries = try #require(Self.code.entries(for: .ac))
    let table = try #require(HuffmanTable(Self.code, use: .ac, isProgressive: false))
    for index in 0..<1 << HuffmanTable.valuedBits {
      let bits = UInt64(index) << UInt64(64 - HuffmanTable.valuedBits)
      let entry = Int32(bitPattern: table.lookup.valued[index])
      let found = entries.first { Int(bits >> UInt64(64 - $0.length)) == $0.code }
      guard let found, found.length + found.size <= HuffmanTable.valuedBits else {
        #expect(entry == 0, "\(index)")
        continue
      }
      let isEnd = found.size == 0 && found.run != 15
      let value = found.size == 0 ? 0 : Int((bits << UInt64(found.length)) >> UInt64(64 - found.size))
      let signed = found.size > 0 && value >> (found.size - 1) == 0 ? value + 1 - 1 << found.size : value
      #expect(Int(entry & 0xFF) == found.length + found.size, "\(index)")
      #expect(Int(entry >> 8 & 0xFF) == (isEnd ? HuffmanTable.endOfBlock : found.run + 1), "\(index)")
      #expect(Int(entry >> 16) == signed, "\(index)")
    }
    withExtendedLifetime(table) {}
  }

  @Test func codesOfAnyLengthAreFound() throws {
    let entries = try #require(Self.code.entries(for: .ac))
    let table = try #require(HuffmanTable(Self.code, use: .ac, isProgressive: false))
    for entry in entries {
      for rest in [0, UInt64.max] {
        let bits = UInt64(entry.code) << UInt64(64 - entry.length) | rest >> UInt64(entry.length)
        #expect(table.lookup.decode(bits) == entry.length << 8 | Int(entry.symbol))
        #expect(table.lookup.entry(bits) == UInt64(entry.length + entry.size) | UInt64(entry.symbol) << 8)
      }
    }
    #expect(table.lookup.decode(.max) == 0)
    #expect(table.lookup.entry(.max) == 0)
    withExtendedLifetime(table) {}
  }

  @Test func codesThatDoNotAddUpAreNone() {
    func isCode(_ counts: [UInt8], _ symbols: [UInt8], _ use: HuffmanCode.Use = .ac) -> Bool {
      let all = counts + [UInt8](repeating: 0, count: 16 - counts.count)
      return HuffmanCode(counts: all, symbols: symbols).entries(for: use) != nil
    }
    #expect(isCode([1], [0]))
    #expect(isCode([], []))
    #expect(isCode([1, 1], [0, 1]))
    #expect(!isCode([2], [0, 1]))
    #expect(!isCode([1, 2], [0, 1, 2]))
    #expect(!isCode([1], [0, 1]))
    #expect(!isCode([0, 4], [0, 1, 2, 3]))
    #expect(isCode([1], [15], .dc))
    #expect(!isCode([1], [16], .dc))
  }
}
