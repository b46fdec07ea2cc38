import Glibc

@testable import CodecTestSupport
@testable import ImageCodec

/// The transform and the quantisers of the JPEG encoder.
struct ForwardTransformTests {
  private static func wave(_ frequency: Int, _ place: Int) -> Double {
    let angle = Double((2 * place + 1) * frequency) * Double.pi / 16
    return frequency == 0 ? 0.125.squareRoot() : cos(angle) / 2
  }

  private static let waves: [[Double]] = (0..<8).map { frequency in (0..<8).map { wave(frequency, $0) } }

  /// JPEG's coefficients of samples, by the frequency across, then down.
  private func exact(_ samples: [Int16]) -> [Double] {
    var coefficients = [Double](repeating: 0, count: 64)
    for index in 0..<64 {
      let (across, down) = (Self.waves[index / 8], Self.waves[index % 8])
      for place in 0..<64 {
        let weight: Double = across[place % 8] * down[place / 8]
        coefficients[index] += Double(samples[place]) * weight
      }
    }
    return coefficients
  }

  private func gain(_ index: Int) -> Double {
    ForwardTransform.gains[index / 8] * ForwardTransform.gains[index % 8]
  }

  private func transformed(_ samples: [Int16]) -> [Double] {
    var block = [Int16](repeating: 0, count: 64)
    let factors = ForwardTransform.factors.flatMap { [Int16](repeating: $0, count: 8) }
    var values: [SIMD8<Int16>] = []
    factors.withUnsafeBytes { factors in
      guard let factors = factors.baseAddress else { return }
      ForwardTransform.columns(samples, stride: 8, factors, into: &block)
      let rows = ForwardTransform.rows(block, factors)
      values = [rows.0, rows.1, rows.2, rows.3, rows.4, rows.5, rows.6, rows.7]
    }
    return (0..<64).map { index in Double(values[index / 8][index % 8]) / gain(index) }
  }

  @Test func theCoefficientsAreJPEGs() {
    var random = SplitMix(state: 2)
    for amplitude in [1, 30, 256] {
      for _ in 0..<200 {
        let samples = (0..<64).map { _ in Int16(random.below(2 * amplitude) - amplitude) }
        for (index, pair) in zip(transformed(samples), exact(samples)).enumerated() {
          // The rounding of about five values, larger for frequencies of small gains.
          #expect(abs(pair.0 - pair.1) <= 12 / gain(index) + 1, "\(index): \(pair)")
        }
      }
    }
  }

  @Test func theLargestCoefficientsDoNotOverflow() {
    for index in 0..<64 {
      // The samples that make a coefficient as large as it can be.
      let signs = (0..<64).map { place -> Bool in
        var unit = [Int16](repeating: 0, count: 64)
        unit[place] = 1
        return exact(unit)[index] > 0
      }
      for isNegative in [false, true] {
        let samples = signs.map { $0 != isNegative ? Int16(255) : -256 }
        for (own, right) in zip(transformed(samples), exact(samples)) { #expect(abs(own - right) < 24) }
      }
    }
  }

  @Test func theOrderIsTheStandards() {
    let standard = [
      0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
      28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61,
      54, 47, 55, 62, 63,
    ]
    let order = (0..<64).map { position -> Int in
      let (across, down) = ZigzagOrder.frequencies[position]
      return 8 * down + across
    }
    #expect(order == standard)
  }

  @Test func onlyTextureInTexturedSurroundingsLosesWeakCoefficients() throws {
    let luma = try #require(EncodingQuality(80, size: PixelSize(400, 300), isGray: false).quantisers.first)
    /// The number of tokens of a block.
    func tokens(_ samples: [Int16], texture: Int) -> Int {
      var (block, counts) = ([Int16](repeating: 0, count: 64), [UInt32](repeating: 0, count: 1024))
      var (tokens, previous) = ([UInt32](repeating: 0, count: BlockCoder.mostTokens), 0)
      return tokens.withUnsafeMutableBufferPointer { tokens in
        guard let start = tokens.baseAddress else { return 0 }
        return BlockCoder.encode(
          samples, stride: 8, luma.memory, block: &block, previous: &previous, table: 0, texture: texture,
          ZigzagOrder.shared, counts: &counts, into: start) - start
      }
    }
    var random = SplitMix(state: 5)
    let texture = (0..<64).map { _ in Int16(random.below(200) - 100) }
    let inSmooth = tokens(texture, texture: 0)
    #expect(tokens(texture, texture: BlockCoder.wholeTexture / 2) < inSmooth)
    #expect(tokens(texture, texture: BlockCoder.wholeTexture) < tokens(texture, texture: BlockCoder.wholeTexture / 2))
    // A faint slope has too little energy to hide anything.
    let slope = (0..<64).map { Int16($0 % 8 * 2) }
    #expect(tokens(slope, texture: BlockCoder.wholeTexture) == tokens(slope, texture: 0))
  }

  @Test func stepsGrowAsTheQualityFalls() {
    // Of the mean, and of the lowest and highest frequencies.
    let known = EncodingQuality(50, size: PixelSize(400, 300), isGray: false).quantisers.map(\.steps)
    #expect(known.map { [$0[0], $0[1], $0[4], $0[63]] } == [[10, 13, 16, 113], [10, 15, 18, 201]])
    for isGray in [false, true] {
      var last: [[UInt8]] = []
      for quality in (1...89).reversed() {
        let tables = EncodingQuality(quality, size: PixelSize(400, 300), isGray: isGray).quantisers.map(\.steps)
        for (table, finer) in zip(tables, last) { #expect(zip(table, finer).allSatisfy { $0 >= $1 }, "\(quality)") }
        last = tables
      }
    }
  }
}
