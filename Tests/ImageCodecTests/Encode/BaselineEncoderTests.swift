import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// JPEG files of the project's own encoder, as libvips and libjpeg-turbo read them.
@Suite(.timeLimit(.minutes(5))) struct BaselineEncoderTests {
  private typealias Samples = BaselineEncoder.Samples

  /// The pixels of a file, read by libvips without a warning.
  private func shown(_ file: Data) throws -> DecodedPixels {
    let reader = BodyReader(.memory(Array(file)), cancellation: CancellationFlag())
    return try DecodedPixels(try reader.load(.jpeg, VIPS_FAIL_ON_WARNING))
  }

  private func encoded(_ raster: Raster, quality: Int, profile: [UInt8] = []) -> Data {
    let samples: Samples = raster.bands == 1 ? .gray : raster.space == .ycc ? .ycc : .rgb
    return raster.withSamples {
      BaselineEncoder.encode($0, raster.size, samples, quality: quality, header: JPEGFileHeader(profile: profile))
    }
  }

  private func slope(_ size: PixelSize, bands: Int) throws -> Raster {
    try Raster(size, bands: bands) { x, y in (0..<bands).map { UInt8(40 + 2 * x + y * (1 - $0 % 2)) } }
  }

  private func noise(_ size: PixelSize, bands: Int, levels: Int = 256) throws -> Raster {
    var random = SplitMix(state: UInt64(size.width * 64 + size.height))
    return try Raster(size, bands: bands) { _, _ in
      (0..<bands).map { _ in UInt8(random.below(levels) * 255 / (levels - 1)) }
    }
  }

  /// In the gate those at the edges of blocks.
  private static let sides = Thoroughness.cases([1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40], of: Array(1...40))

  @Test(arguments: sides) func everySmallSizeIsReadWithoutAWarning(width: Int) throws {
    try Codec.start()
    for height in Self.sides {
      let size = PixelSize(width, height)
      let quality = [1, 30, 60, 80, 89][(width + height) % 5]
      for bands in [1, 3] {
        let slope = try slope(size, bands: bands)
        let pixels = try shown(encoded(slope, quality: 89))
        try #require(pixels.size == size && pixels.bands == bands)
        let most = difference(of: pixels.bytes, from: slope.bytes).most
        #expect(most <= 12, "\(size), \(bands): \(most)")
        #expect(try shown(encoded(noise(size, bands: bands), quality: quality)).size == size)
      }
      let planes = try shown(encoded(slope(size, bands: 3).ycc(), quality: 89))
      #expect(try planes.meanDifference(from: shown(encoded(slope(size, bands: 3), quality: 89))) < 2)
    }
  }

  @Test func allSizesAndSamplesGiveTheSameBytesEveryTime() throws {
    var random = SplitMix(state: 3)
    for _ in Thoroughness.rounds(60) {
      let size = PixelSize(1 + random.below(300), 1 + random.below(300))
      let raster = try noise(size, bands: random.below(2) == 0 ? 1 : 3, levels: 2 + random.below(255))
      let quality = 1 + random.below(89)
      let first = encoded(raster, quality: quality)
      #expect(encoded(raster, quality: quality) == first)
      #expect(try shown(first).size == size)
    }
  }

  /// At 1/8 our decoder reads the means of blocks. Those of samples that libjpeg-turbo has clamped differ, so there are
  /// none at the ends of the range.
  @Test func ourOwnDecoderReadsTheMeansThatLibjpegReads() throws {
    for size in [PixelSize(56, 40), PixelSize(64, 24)] {
      let raster = try slope(size, bands: 1)
      for quality in [20, 50, 80, 89] {
        let file = Array(encoded(raster, quality: quality))
        let decoder = CoefficientDecoder(
          ByteSource.memory(file), size: size, scale: .eighth, isTolerant: false, cancellation: CancellationFlag())
        let own = try Raster(decoder).bytes
        let theirs = try shown(Data(file))
        for (index, mean) in own.enumerated() {
          let (left, top) = (index % (size.width / 8) * 8, index / (size.width / 8) * 8)
          var sum = 0
          for y in top..<top + 8 { for x in left..<left + 8 { sum += Int(theirs[x, y][0]) } }
          #expect(abs(64 * Int(mean) - sum) <= 64)
        }
      }
    }
  }

  @Test(arguments: [1, 40, 80, 89]) func extremesAreWritten(quality: Int) throws {
    let size = PixelSize(50, 37)
    for level: UInt8 in [0, 128, 255] {
      let pixels = try shown(encoded(Raster(size, bands: 3) { _, _ in [level, level, level] }, quality: quality))
      let most = quality < 40 ? 20 : 2
      #expect(pixels.bytes.allSatisfy { abs(Int($0) - Int(level)) <= most })
    }
    // Blocks of extremes, single pixels of extremes, and the most saturated colours side by side.
    for pitch in [1, 2, 8, 16] {
      let checks = try Raster(size, bands: 3) { x, y in
        (x / pitch + y / pitch) % 2 == 0 ? [255, 0, 255] : [0, 255, 0]
      }
      #expect(try shown(encoded(checks, quality: quality)).size == size)
      #expect(try shown(encoded(checks.ycc(), quality: quality)).size == size)
    }
    #expect(try shown(encoded(noise(size, bands: 3, levels: 2), quality: quality)).size == size)
  }

  /// Luma and chroma of whole levels, as decoders have them, leave an error of 2 at most.
  @Test(arguments: [60, 80, 89]) func plainColoursAreAsExactAsLevelsAllow(quality: Int) throws {
    var random = SplitMix(state: UInt64(quality))
    let colours: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [1, 2, 3], [189, 200, 207]]
    for colour in colours + (0..<60).map({ _ in (0..<3).map { _ in UInt8(random.below(256)) } }) {
      let raster = try Raster(PixelSize(40, 40), bands: 3) { _, _ in colour }
      for file in [encoded(raster, quality: quality), encoded(try raster.ycc(), quality: quality)] {
        let pixels = try shown(file)
        #expect(pixels.isNear(colour, 20, 20, tolerance: 2), "\(colour): \(pixels[20, 20])")
      }
    }
  }

  @Test func aLongProfileIsWrittenInSegments() throws {
    let profile = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 * 7 / 5) }
    let file = [UInt8](encoded(try slope(PixelSize(9, 9), bands: 3), quality: 80, profile: profile))
    var (place, parts): (Int, [[UInt8]]) = (2, [])
    while file[place + 1] != 0xDA {
      let length = Int(file[place + 2]) << 8 | Int(file[place + 3])
      if file[place + 1] == 0xE2 { parts.append(Array(file[place + 4..<place + 2 + length])) }
      place += 2 + length
    }
    #expect(parts.map { Array($0.prefix(14)) } == (1...3).map { Array("ICC_PROFILE".utf8) + [0, $0, 3] })
    #expect(parts.flatMap { $0.dropFirst(14) } == profile)
    #expect(try shown(Data(file)).size == PixelSize(9, 9))
  }

  @Test func theFileIsSmallerThanLibjpegsForTheSameLook() async throws {
    let variant = Variant(size: PixelSize(400, 400), fit: .contain, format: .png)
    for picture in ["lake-at-dawn.jpg", "lake-shore-pebbles.jpg", "paper-mountains.png"] {
      let source = try await TestRender.pixels(Array(try TestImages.bytes("gallery/\(picture)")), variant)
      try #require(source.bands == 3)
      let raster = try Raster(size: source.size, bands: 3) { $0.copyBytes(from: source.bytes) }
      for quality in [30, 60, 80, 89] {
        let theirs = try libjpeg(raster, quality: quality)
        let ours = encoded(raster, quality: quality)
        #expect(Double(ours.count) < 0.95 * Double(theirs.count), "\(picture), \(quality)")
        let similarity = try (structuralSimilarity(source, shown(ours)), structuralSimilarity(source, shown(theirs)))
        // The quantisers follow SSIMULACRA2, which punishes other errors than this measure.
        #expect(similarity.0 > similarity.1 - (quality < 80 ? 0.04 : 0.01), "\(picture), \(quality): \(similarity)")
      }
    }
  }

  private func libjpeg(_ raster: Raster, quality: Int) throws -> Data {
    var bytes: UnsafeMutableRawPointer?
    var length = 0
    let image = try raster.image()
    let saved = withExtendedLifetime((raster, image)) {
      cvips_save_jpeg(image.pointer, &bytes, &length, Int32(quality), 0, 1)
    }
    defer { g_free(bytes) }
    try #require(saved == 0)
    return Data(bytes: try #require(bytes), count: length)
  }

  @Test func largeImagesAreLeftToLibjpeg() throws {
    /// The step of the mean, from the first table of quantisers.
    func meanStep(_ raster: Raster) throws -> UInt8 {
      let file = [UInt8](try JPEGEncoder(quality: 80).encode(raster))
      let table = try #require(file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xDB })
      return file[table + 5]
    }
    let side = 2048
    #expect(side * side == JPEGEncoder.mostBaselinePixels)
    let raster = try Raster(size: PixelSize(side, side + 1), bands: 1) {
      $0.initializeMemory(as: UInt8.self, repeating: 9)
    }
    // The standard's first step, at libjpeg's quality of 80.
    #expect(try meanStep(raster) == 6)
    let smaller = try Raster(size: PixelSize(side, side), bands: 1) {
      $0.initializeMemory(as: UInt8.self, repeating: 9)
    }
    #expect(try meanStep(smaller) != 6)
  }
}
