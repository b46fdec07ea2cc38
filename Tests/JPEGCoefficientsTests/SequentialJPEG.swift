@testable import JPEGCoefficients
import TestSupport
@testable import ThumbnailCore

/// A sequential JPEG of random coefficients, with Huffman tables made for them.
struct SequentialJPEG: Sendable {
  enum Texture: Sendable, CaseIterable {
    /// Blocks with a few coefficients, some with many.
    case photograph
    /// All coefficients, of many bits, so that many codes are long and most blocks end with their last coefficient.
    case noise
    /// The same sample everywhere: a block takes two bits.
    case constant
  }

  var size = PixelSize(320, 240)
  /// The sampling factors of each component.
  var sampling = [PixelSize(2, 2), PixelSize(1, 1), PixelSize(1, 1)]
  var texture = Texture.photograph
  var restartInterval = 0
  /// Whether all components share one pair of tables.
  var sharesTables = false

  private struct Symbol {
    /// The table: DC and AC of luma, DC and AC of chroma.
    var table: Int
    var symbol: UInt8
    var value: Int
    var size: Int
  }

  /// The file.
  func bytes() -> [UInt8] {
    let most = PixelSize(sampling.map(\.width).max() ?? 1, sampling.map(\.height).max() ?? 1)
    let isAlone = sampling.count == 1
    let (across, down) = isAlone ? (8, 8) : (8 * most.width, 8 * most.height)
    let count = ((size.width + across - 1) / across) * ((size.height + down - 1) / down)
    var random = SplitMix(state: UInt64(size.width * 31 + restartInterval))
    let mcus = (0..<count).map { _ in mcu(&random) }
    let codes = Self.codes(of: mcus)
    var file: [UInt8] = [0xFF, 0xD8] + Self.segment(0xDB, [0] + [UInt8](repeating: 3, count: 64))
    var frame: [UInt8] = [8] + Self.big(size.height) + Self.big(size.width) + [UInt8(sampling.count)]
    for (index, factors) in sampling.enumerated() {
      frame += [UInt8(index + 1), UInt8(factors.width << 4 | factors.height), 0]
    }
    file += Self.segment(0xC0, frame)
    for (table, code) in codes.enumerated() {
      let head: UInt8 = [0x00, 0x10, 0x01, 0x11][table]
      file += Self.segment(0xC4, [head] + code.counts + code.symbols)
    }
    if restartInterval > 0 { file += Self.segment(0xDD, Self.big(restartInterval)) }
    var header = [UInt8(sampling.count)]
    for index in sampling.indices { header += [UInt8(index + 1), isChroma(index) ? 0x11 : 0] }
    file += Self.segment(0xDA, header + [0, 63, 0])
    return file + write(mcus, codes) + [0xFF, 0xD9]
  }

  private func isChroma(_ component: Int) -> Bool { component > 0 && !sharesTables }

  private func mcu(_ random: inout SplitMix) -> [Symbol] {
    sampling.indices.flatMap { component in
      let blocks = sampling.count == 1 ? 1 : sampling[component].pixelCount
      return (0..<blocks).flatMap { _ in block(isChroma(component) ? 2 : 0, &random) }
    }
  }

  private func block(_ table: Int, _ random: inout SplitMix) -> [Symbol] {
    func symbol(_ table: Int, run: Int, _ value: Int) -> Symbol {
      let size = Int.bitWidth - abs(value).leadingZeroBitCount
      return Symbol(
        table: table, symbol: UInt8(run << 4 | size), value: value < 0 ? value + (1 << size) - 1 : value, size: size)
    }
    func value(_ bits: Int) -> Int { (random.below(1 << bits) + 1) * (random.below(2) == 0 ? 1 : -1) }
    switch texture {
    case .constant: return [symbol(table, run: 0, 0), symbol(table + 1, run: 0, 0)]
    case .noise:
      return [symbol(table, run: 0, value(9))] + (1...63).map { _ in symbol(table + 1, run: 0, value(7)) }
    case .photograph:
      var symbols = [symbol(table, run: 0, value(random.below(7)))]
      var position = 0
      while random.below(8) > 0 {
        let run = random.below(3) == 0 ? random.below(16) : 0
        if position + run + 1 > 63 { break }
        // Sixteen zeros, without a value.
        if run == 15 && random.below(2) == 0 {
          symbols.append(symbol(table + 1, run: 15, 0))
        } else {
          symbols.append(symbol(table + 1, run: run, value(random.below(4))))
        }
        position += run + 1
      }
      if position < 63 { symbols.append(symbol(table + 1, run: 0, 0)) }
      return symbols
    }
  }

  // MARK: - Writing

  private static func big(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }

  private static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [0xFF, marker] + big(payload.count + 2) + payload
  }

  private func write(_ mcus: [[Symbol]], _ codes: [HuffmanCode]) -> [UInt8] {
    let tables = codes.enumerated().map { table, code in
      var words: [UInt8: (code: Int, length: Int)] = [:]
      for entry in code.entries(for: table % 2 == 0 ? .dc : .ac) ?? [] {
        words[entry.symbol] = (entry.code, entry.length)
      }
      return words
    }
    var (bytes, bits, count) = ([UInt8](), 0, 0)
    func put(_ value: Int, _ length: Int) {
      (bits, count) = (bits << length | value, count + length)
      while count >= 8 {
        count -= 8
        let byte = UInt8(bits >> count & 255)
        bytes.append(byte)
        if byte == 0xFF { bytes.append(0) }
        bits &= 1 << count - 1
      }
    }
    for (number, mcu) in mcus.enumerated() {
      if restartInterval > 0, number > 0, number % restartInterval == 0 {
        if count > 0 { put(0xFF >> count, 8 - count) }
        bytes += [0xFF, 0xD0 + UInt8((number / restartInterval - 1) & 7)]
      }
      for symbol in mcu {
        let word = tables[symbol.table][symbol.symbol] ?? (0, 0)
        put(word.code, word.length)
        put(symbol.value, symbol.size)
      }
    }
    if count > 0 { put(0xFF >> count, 8 - count) }
    return bytes
  }

  /// A code for each table, of at most 16 bits and never of ones alone.
  private static func codes(of mcus: [[Symbol]]) -> [HuffmanCode] {
    var frequencies = [[Int]](repeating: [Int](repeating: 0, count: 256), count: 4)
    for mcu in mcus { for symbol in mcu { frequencies[symbol.table][Int(symbol.symbol)] += 1 } }
    return frequencies.prefix(frequencies[2].max() == 0 ? 2 : 4).map { frequencies in
      var weights = frequencies.enumerated().filter { $1 > 0 }.map { (symbol: $0, weight: $1) }
      weights.sort { $0.weight > $1.weight }
      var lengths = Self.lengths(weights.map(\.weight) + [0])
      while let longest = lengths.max(), longest > 16 {
        // Flatter weights make shorter codes.
        weights = weights.map { ($0.symbol, $0.weight / 2 + 1) }
        lengths = Self.lengths(weights.map(\.weight) + [0])
      }
      // The last code of the longest ones is that of no symbol.
      lengths.removeLast()
      var code = HuffmanCode(counts: [UInt8](repeating: 0, count: 16), symbols: [])
      for (symbol, length) in zip(weights, lengths).sorted(by: { $0.1 < $1.1 }) {
        code.counts[length - 1] += 1
        code.symbols.append(UInt8(symbol.symbol))
      }
      return code
    }
  }

  /// The lengths of a Huffman code for these weights.
  private static func lengths(_ weights: [Int]) -> [Int] {
    var nodes = weights.indices.map { (weight: weights[$0], leaves: [$0]) }
    var lengths = [Int](repeating: 0, count: weights.count)
    while nodes.count > 1 {
      nodes.sort { ($0.weight, $0.leaves.count) > ($1.weight, $1.leaves.count) }
      let (a, b) = (nodes.removeLast(), nodes.removeLast())
      for leaf in a.leaves + b.leaves { lengths[leaf] += 1 }
      nodes.append((a.weight + b.weight, a.leaves + b.leaves))
    }
    return lengths
  }
}

extension SplitMix {
  /// A number from 0 to below `count`.
  mutating func below(_ count: Int) -> Int { Int(next() >> 33) % max(1, count) }
}
