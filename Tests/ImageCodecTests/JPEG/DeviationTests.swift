@testable import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// How much the pixels of a block deviate from the samples that the coefficient decoder makes of it.
@Suite(.timeLimit(.minutes(5)))
struct DeviationTests {
  private static let size = PixelSize(173, 91)

  /// Flat parts, slopes, edges, noise and single points, in tiles.
  private static func picture(bands: Int) -> TestPicture {
    var random = SplitMix(state: 12)
    return TestPicture(size.width, size.height, bands: bands) { x, y in
      let noise = Int(random.next() >> 40)
      let value =
        switch (x / 24 + 3 * (y / 24)) % 6 {
        case 0: 90
        case 1: (x * 5 + y) % 256
        case 2: (x / 5 + y / 3) % 2 * 200 + 20
        case 3: noise % 256
        case 4: noise % 23 == 0 ? 255 : 4
        default: 120 + noise % 24
        }
      return (0..<bands).map { UInt8(max(0, min(255, value - 15 * $0))) }
    }
  }

  private static func decode(
    _ file: [UInt8], _ scale: JPEGScale, measures: Bool = true, isTolerant: Bool = false
  ) throws -> CoefficientImage {
    var decoder = CoefficientDecoder(
      ByteSource.memory(file), size: try probe(.memory(file)).storedSize, scale: scale, isTolerant: isTolerant,
      cancellation: CancellationFlag())
    decoder.measuresDeviations = measures
    return try decoder.decode()
  }

  private static func samples(_ image: CoefficientImage) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: image.size.pixelCount * image.bands)
    bytes.withUnsafeMutableBytes { image.compose(into: $0) }
    return bytes
  }

  private static func deviations(_ image: CoefficientImage, y: Int) -> [Double] {
    var row = [UInt8](repeating: 0, count: image.size.width)
    image.copyDeviations(y: y, into: &row)
    return row.map { Double($0) }
  }

  /// The luma of every pixel as libjpeg has it.
  private static func luma(_ file: [UInt8]) throws -> [Double] {
    let samples = try Samples(file, shrink: 1)
    return (0..<samples.size.pixelCount).map { pixel in
      let values = samples.bytes[pixel * samples.bands..<(pixel + 1) * samples.bands].map { Double($0) }
      return values.count < 3 ? values[0] : 0.299 * values[0] + 0.587 * values[1] + 0.114 * values[2]
    }
  }

  /// The standard deviation within the samples of a block, of `side` × `side`.
  private static func deviation(_ luma: [Double], blockX: Int, blockY: Int, side: Int) -> Double {
    let pixels = 8 / side
    var sum = 0.0
    for sample in 0..<side * side {
      let (left, top) = (8 * blockX + sample % side * pixels, 8 * blockY + sample / side * pixels)
      let values = (0..<pixels * pixels).map { luma[(top + $0 / pixels) * size.width + left + $0 % pixels] }
      let mean = values.reduce(0, +) / Double(values.count)
      sum += values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    }
    return (sum / 64).squareRoot()
  }

  @Test(arguments: JPEGScale.reduced, ["", ",interlace=true"])
  func areThoseOfTheDecodedPixels(_ scale: JPEGScale, _ interlace: String) throws {
    try Codec.start()
    for bands in [1, 3] {
      // The last bits of a progressive file's coefficients are not read, which shows where it was compressed much.
      for quality in interlace.isEmpty ? [40, 75, 95] : [75, 95] {
        let options = "Q=\(quality),subsample-mode=on" + interlace
        let file = try Self.picture(bands: bands).encoded("jpegsave_buffer", options)
        let image = try Self.decode(file, scale)
        let luma = try Self.luma(file)
        let side = 8 / scale.rawValue
        var (ours, theirs, worst) = (0.0, 0.0, 0.0)
        for blockY in 0..<Self.size.height / 8 {
          let rows = (0..<side).map { Self.deviations(image, y: blockY * side + $0) }
          for blockX in 0..<Self.size.width / 8 {
            // Of several samples the mean of their squares.
            let columns = blockX * side..<(blockX + 1) * side
            let squares = rows.flatMap { row in row[columns].map { $0 * $0 } }
            let measured = (squares.reduce(0, +) / Double(squares.count)).squareRoot()
            let exact = Self.deviation(luma, blockX: blockX, blockY: blockY, side: side)
            (ours, theirs) = (ours + measured, theirs + exact)
            worst = max(worst, abs(measured - exact) / (exact + 20))
          }
        }
        // Squares are those expected of so many bits, and pixels beyond black and white are brought into range only
        // when they are decoded.
        let ratio = ours / theirs
        #expect(
          (0.85...1.25).contains(ratio) && worst < 0.5, "\(bands) bands, \(options), 1/\(scale): \(ratio) \(worst)")
      }
    }
  }

  @Test func lieWhereTheSamplesAreNotBlackOrWhite() throws {
    try Codec.start()
    // A white stroke of one pixel in the right half of each block.
    let file = try TestPicture(64, 64, bands: 1) { x, _ in [x % 8 == 6 ? 255 : 0] }.encoded("jpegsave_buffer", "Q=95")
    let row = Self.deviations(try Self.decode(file, .quarter), y: 4)
    for block in 1..<7 { #expect(row[2 * block] < 40 && row[2 * block + 1] > 90, "\(row)") }
  }

  @Test(arguments: JPEGScale.reduced) func measuringThemChangesNoSample(_ scale: JPEGScale) throws {
    try Codec.start()
    for options in ["Q=80", "Q=98,subsample-mode=off", "Q=80,optimize-coding=true", "Q=35,restart-interval=3"] {
      let file = try Self.picture(bands: 3).encoded("jpegsave_buffer", options)
      let plain = try Self.decode(file, scale, measures: false)
      let measured = try Self.decode(file, scale)
      #expect(Self.samples(plain) == Self.samples(measured), "\(options)")
      #expect(!plain.hasDeviations && measured.hasDeviations)
    }
  }

  @Test func longCodesAndEveryPositionAreMeasured() throws {
    for isProgressive in [false, true] {
      var jpeg = TestJPEG(size: PixelSize(64, 64))
      jpeg.isProgressive = isProgressive
      if isProgressive {
        jpeg.scans = [0...0, 1...5, 6...63].map { TestJPEG.Scan(components: [0], positions: $0) }
      }
      let others = Self.deviations(try Self.decode(jpeg.bytes(), .eighth), y: 3)
      jpeg.hasLongCodes = true
      let long = Self.deviations(try Self.decode(jpeg.bytes(), .eighth), y: 3)
      // One symbol at a time, or several: the weights of those that are skipped at once differ a little.
      for (one, other) in zip(long, others) { #expect(abs(one - other) <= 1 + 0.2 * max(one, other)) }
      #expect(long.contains { $0 > 0 })
    }
  }

  @Test func filesWithoutLumaAreHandedOver() throws {
    var jpeg = TestJPEG(size: PixelSize(40, 30), components: TestJPEG.colours())
    jpeg.atStart = TestJPEG.adobeRGB
    let error = #expect(throws: JPEGError.self) { try Self.decode(jpeg.bytes(), .eighth) }
    #expect(error.map { CodecError($0).kind } == "handedOver")
  }

  @Test func whatIsMissingOfATolerantReadingDeviatesByNothing() throws {
    try Codec.start()
    let file = try Self.picture(bands: 3).encoded("jpegsave_buffer", "Q=90")
    let image = try Self.decode(Array(file.prefix(file.count / 2)), .eighth, isTolerant: true)
    #expect(Self.deviations(image, y: 0).contains { $0 > 0 })
    #expect(Self.deviations(image, y: image.size.height - 1).allSatisfy { $0 == 0 })
  }

  // MARK: Light

  @Test func theMeanLightOfBlackAndWhiteIsBetweenTheirs() {
    func light(_ mean: UInt8, deviation: UInt8) -> Int16 {
      var linear = [Int16](repeating: 0, count: 1)
      LinearLight.decode([mean], deviations: [deviation], count: 1, channels: 1, into: &linear)
      return linear[0]
    }
    // Half of the pixels are white; a quarter, with the deviation that is the largest of such a mean; a flat block.
    #expect(abs(Int(light(128, deviation: 127)) - 8160) < 160)
    #expect(abs(Int(light(64, deviation: 110)) - 4080) < 160)
    #expect(light(188, deviation: 0) == 8207 && light(0, deviation: 127) == 0 && light(255, deviation: 90) == 16_320)
    for mean in UInt8.min...UInt8.max {
      for deviation in stride(from: UInt8(2), through: 126, by: 2) {
        #expect(light(mean, deviation: deviation) >= light(mean, deviation: deviation - 2))
      }
    }
  }

  /// Points and fine lines that 1/8 of the file has averaged away: beside a reading of the whole file.
  @Test(arguments: ["", ",interlace=true"]) func brightPointsKeepTheirLight(_ interlace: String) async throws {
    let picture = TestPicture(2048, 1024) { x, y in
      let isPoint = (x * 31 + y * 57) % 97 == 0
      let isLine = y > 512 && x % 6 == 0
      return isPoint || isLine ? [255, 240, 220] : [8, 8, 12]
    }
    let file = try picture.encoded("jpegsave_buffer", "Q=92" + interlace)
    func pixels(_ scaling: Scaling, _ light: Light) async throws -> DecodedPixels {
      try await TestRender.pixels(
        file, Variant(size: PixelSize(128, 64), fit: .contain, format: .png, scaling: scaling, light: light))
    }
    let whole = try await pixels(.best, .linear)
    let quick = try await pixels(.good, .linear).meanDifference(from: whole)
    let plain = try await pixels(.good, .display).meanDifference(from: whole)
    #expect(quick < 0.35 * plain, "\(quick) \(plain)")
  }
}
