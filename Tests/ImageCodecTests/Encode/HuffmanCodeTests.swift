@testable import CodecTestSupport
@testable import ImageCodec

/// Codes of symbols by their counts, and the bits that are written with them.
struct HuffmanCodeTests {
  private func code(_ counts: [UInt32]) -> HuffmanCode {
    HuffmanCode(counts + [UInt32](repeating: 0, count: 256 - counts.count))
  }

  /// The length of each symbol's code.
  private func lengths(_ code: HuffmanCode) -> [UInt8: Int] {
    var (lengths, index): ([UInt8: Int], Int) = ([:], 0)
    for (shorter, count) in code.lengths.enumerated() {
      for symbol in code.symbols[index..<index + Int(count)] { lengths[symbol] = shorter + 1 }
      index += Int(count)
    }
    return lengths
  }

  /// The bits of all symbols in an optimal code in which another symbol, that never occurs, has a code.
  private func leastBits(_ counts: [UInt32]) -> Int {
    var (weights, bits) = ([0] + counts.filter { $0 > 0 }.map { Int($0) }, 0)
    while weights.count > 1 {
      weights.sort(by: >)
      let sum = weights.removeLast() + weights.removeLast()
      bits += sum
      weights.append(sum)
    }
    return bits
  }

  private func expectValid(_ counts: [UInt32], isOptimal: Bool = false) {
    let code = code(counts)
    let lengths = lengths(code)
    #expect(code.lengths.count == 16 && lengths.count == counts.count { $0 > 0 })
    #expect(Set(lengths.keys) == Set(counts.indices.filter { counts[$0] > 0 }.map { UInt8($0) }))
    // Of 65,536 codes of 16 bits at least one, that of ones, begins with no code.
    let taken = lengths.values.reduce(0) { $0 + 1 << (16 - $1) }
    #expect(taken < 1 << 16)
    // More frequent symbols never have longer codes.
    for (symbol, length) in lengths {
      for (other, otherLength) in lengths where counts[Int(symbol)] > counts[Int(other)] {
        #expect(length <= otherLength)
      }
    }
    let bits = lengths.reduce(0) { $0 + Int(counts[Int($1.key)]) * $1.value }
    if isOptimal { #expect(bits == leastBits(counts)) } else { #expect(bits >= leastBits(counts)) }
  }

  @Test func noCodeIsLongerThan16Bits() {
    var fibonacci: [UInt32] = [1, 1]
    while fibonacci.count < 46 { fibonacci.append(fibonacci[fibonacci.count - 1] + fibonacci[fibonacci.count - 2]) }
    for count in [17, 18, 25, 46] {
      expectValid(Array(fibonacci.prefix(count)))
      expectValid(fibonacci.prefix(count).reversed())
    }
    expectValid((0..<32).map { 1 << $0 })
    expectValid((0..<256).map { 1 << UInt32($0 / 8) })
    expectValid([UInt32](repeating: 1, count: 255) + [.max])
  }

  @Test func theBitsAreTheFewest() {
    var random = SplitMix(state: 11)
    for symbols in [1, 2, 3, 5, 16, 100, 256] {
      for _ in 0..<20 { expectValid((0..<symbols).map { _ in UInt32(1 + random.below(1000)) }, isOptimal: true) }
    }
    expectValid([UInt32](repeating: 7, count: 256), isOptimal: true)
    expectValid([0, 0, 3, 0, 9], isOptimal: true)
  }

  @Test func oneSymbolHasACodeOfOneBit() {
    let code = code([0, 0, 0, 5])
    #expect(code.symbols == [3] && code.lengths == [1] + [UInt8](repeating: 0, count: 15))
  }

  @Test(arguments: 0..<20) func theBitsAreThoseOfTheTokensWithZerosAfterBytesOfOnes(seed: Int) {
    var random = SplitMix(state: UInt64(seed))
    // Symbols of few bits that follow, or of many, often all ones.
    let tokens = (0..<500).map { _ -> UInt32 in
      let size = random.below(seed < 10 ? 3 : 12)
      let bits = random.below(3) == 0 ? random.below(1 << size) : (1 << size) - 1
      return UInt32(random.below(4) << 4 | size | bits << 16)
    }
    var counts = [UInt32](repeating: 0, count: 256)
    for token in tokens { counts[Int(token & 0xFF)] += 1 }
    var entries = [UInt32](repeating: 0, count: 1024)
    HuffmanCode(counts).write(into: &entries)
    var expected = ""
    for token in tokens {
      let entry = entries[Int(token & 0x3FF)]
      let value = String(entry & 0x7FF_FFFF | token >> 16, radix: 2)
      expected += String(repeating: "0", count: Int(entry >> 27) - value.count) + value
    }
    expected += String(repeating: "1", count: (8 - expected.count % 8) % 8)
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: expected.count, by: 8) {
      let byte = UInt8(expected.dropFirst(start).prefix(8), radix: 2) ?? 0
      bytes += byte == 255 ? [255, 0] : [byte]
    }
    var file = [UInt8](repeating: 0, count: 2 * bytes.count + 8)
    let written = file.withUnsafeMutableBufferPointer { file -> Int in
      guard let start = file.baseAddress else { return 0 }
      var writer = EntropyWriter(start)
      // In two parts, as from two chunks.
      tokens.withUnsafeBufferPointer { tokens in
        writer.write(UnsafeBufferPointer(rebasing: tokens[..<123]), entries)
        writer.write(UnsafeBufferPointer(rebasing: tokens[123...]), entries)
      }
      writer.finish()
      return writer.next - start
    }
    #expect(Array(file.prefix(written)) == bytes)
  }
}
