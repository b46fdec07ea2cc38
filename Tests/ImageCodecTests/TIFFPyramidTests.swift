@testable import CodecTestSupport
@testable import ImageCodec

/// Smaller copies of a TIFF's image in the same file: which are found, and which are read.
@Suite(.timeLimit(.minutes(5))) struct TIFFPyramidTests {
  private static func variant(_ side: Int) -> Variant {
    Variant(size: PixelSize(side, side), fit: .contain, format: .png)
  }

  private static func sizes(_ file: [UInt8]) throws -> [PixelSize] {
    try probe(.memory(file)).tiff?.levels.map(\.size) ?? []
  }

  // MARK: Files by libvips

  private static let tiles = "tile=true,tile-width=64,tile-height=64,pyramid=true"
  private static let kinds = [
    "", "compression=deflate", "compression=lzw,predictor=horizontal", "compression=jpeg", "compression=jpeg,Q=95",
    "bigtiff=true", "subifd=true", "subifd=true,compression=jpeg,bigtiff=true", "subifd=true,compression=zstd",
  ]

  private static let quarters = TestPicture.quarters(640, 480)

  private static func pyramid(_ options: String = "", _ picture: TestPicture = quarters) throws -> [UInt8] {
    try picture.encoded("tiffsave_buffer", options.isEmpty ? tiles : "\(tiles),\(options)")
  }

  @Test(arguments: kinds) func aLevelIsReadInPlaceOfTheImage(_ options: String) async throws {
    let file = try Self.pyramid(options)
    let probed = try probe(.memory(file))
    #expect(probed.storedSize == PixelSize(640, 480) && probed.frameCount == 1)
    #expect(try Self.sizes(file) == [320, 160, 80, 40].map { PixelSize($0, $0 * 3 / 4) })
    #expect(try DecodePlan.make(file, [Self.variant(100)]).description == "tiff level 1/2, 320x240 → 100x75")
    let thumbnail = try await TestRender.pixels(file, Self.variant(100))
    let whole = try Self.quarters.encoded("tiffsave_buffer")
    let expected = try await TestRender.pixels(whole, Self.variant(100))
    #expect(structuralSimilarity(thumbnail, expected) > (options.contains("jpeg") ? 0.985 : 0.995))
  }

  @Test func theSmallestLevelThatIsLargeEnoughIsRead() throws {
    let file = try Self.pyramid()
    for (variants, width) in [
      ([Self.variant(40)], 80), ([Self.variant(41)], 160), ([Self.variant(161)], 640),
      ([Self.variant(20), Self.variant(100)], 320),
    ] { #expect(try DecodePlan.make(file, variants).passes[0].baseSize.width == width, "\(variants)") }
    let (small, large) = try (DecodePlan.make(file, [Self.variant(40)]), DecodePlan.make(file, [Self.variant(161)]))
    #expect(small.predictedBytes < large.predictedBytes)
  }

  private static let texture = TestPicture.texture(300, 225).repeated(4)

  @Test(arguments: kinds) func theRangesOfALevelAreAllThatIsRead(_ options: String) throws {
    let file = try Self.pyramid(options, Self.texture)
    let probed = try probe(.memory(file))
    let traits = try #require(probed.tiff)
    for level in traits.levels {
      var part = [UInt8](repeating: 0, count: file.count)
      for range in traits.head + (try #require(level.ranges)) { part[range] = file[range] }
      let rows = try SourceRows(TIFFRowSource(.memory(part), probe: probed, level: level))
      #expect(rows == (try SourceRows(TIFFRowSource(.memory(file), probe: probed, level: level))))
      #expect(rows.layout.planes[0].size == level.size)
    }
    let last = try #require(traits.levels.last?.ranges)
    #expect(last.reduce(0) { $0 + $1.count } < file.count / 4)
  }

  @Test func aLevelIsTurnedAsTheImageIs() async throws {
    var picture = Self.quarters
    picture.orientation = 6
    let file = try Self.pyramid("compression=deflate", picture)
    #expect(try DecodePlan.make(file, [Self.variant(100)]).passes[0].baseSize == PixelSize(320, 240))
    let pixels = try await TestRender.pixels(file, Self.variant(100))
    #expect(pixels.size == PixelSize(75, 100))
    #expect(pixels.isNear(TestPicture.blue, 10, 10) && pixels.isNear(TestPicture.red, 60, 10))
  }

  @Test(arguments: ["", "subifd=true"]) func whatOnlyLibvipsReadsIsReadAtItsLevelToo(_ options: String) async throws {
    let body = ByteSource.memory(try Self.quarters.encoded())
    let inks = try BodyReader(body, cancellation: CancellationFlag()).load(.png, VIPS_FAIL_ON_ERROR)
      .applying { cvips_colourspace($0, $1, VIPS_INTERPRETATION_CMYK) }
    let file = try TestPicture.save(
      inks, "tiffsave_buffer", "\(Self.tiles),compression=deflate" + (options.isEmpty ? "" : ",\(options)"))
    let plan = try DecodePlan.make(file, [Self.variant(100)])
    #expect(plan.passes[0].baseSize == PixelSize(320, 240))
    let pixels = try await TestRender.pixels(file, Self.variant(100))
    #expect(pixels.size == PixelSize(100, 75))
    #expect(pixels.isNear(TestPicture.yellow, 90, 70, tolerance: 60) && !pixels.isNear(TestPicture.yellow, 5, 5))
  }

  @Test(arguments: ["compression=deflate", "subifd=true,compression=deflate", "compression=jpeg"])
  func aDamagedLevelGivesWayToTheImage(_ options: String) async throws {
    var file = try Self.pyramid(options)
    let level = try #require(try probe(.memory(file)).tiff?.levels.first)
    let whole = try await TestRender.one(file, Self.variant(161))
    // The last bytes of its range that are no directory: those of its tiles.
    let range = try #require(level.ranges?.first)
    let end = level.position > range.lowerBound ? min(level.position, range.upperBound) : range.upperBound
    for index in range.lowerBound..<end { file[index] = 0xFF }
    let pixels = try await TestRender.pixels(file, Self.variant(100))
    #expect(pixels.isNear(TestPicture.yellow, 90, 70, tolerance: 20))
    #expect(try await TestRender.one(file, Self.variant(161)).size == whole.size)
  }

  // MARK: Files by hand

  /// A gray image without compression, all of one value.
  private static func page(
    _ name: String, _ width: Int, _ height: Int, type: Int? = 1, samples: Int = 1, bits: Int = 8
  ) -> TIFFWriter.Directory {
    let all: TIFFWriter.Directory = [
      (0x0100, .short([width])), (0x0101, .short([height])), (0x0102, .short([Int](repeating: bits, count: samples))),
      (0x0103, .short([1])), (0x0106, .short([samples == 3 ? 2 : 1])), (0x0111, .start(of: name)),
      (0x0115, .short([samples])), (0x0116, .short([height])), (0x0117, .length(of: name)),
    ]
    return (type.map { [(0x00FE, .long([$0]))] } ?? []) + all
  }

  private static let white: UInt8 = 200

  /// A file of an image of 200×100 pixels, of which level `index` is gray `index`; the image itself is white.
  private static func file(
    chain: [TIFFWriter.Directory], subdirectories: [TIFFWriter.Directory] = [], isBigEndian: Bool = false
  ) -> [UInt8] {
    var tiff = TIFFWriter(isBigEndian: isBigEndian)
    let image = page("image", 200, 100, type: nil)
    tiff.write(chain: [image + (subdirectories.isEmpty ? [] : [(0x014A, .directories(subdirectories))])] + chain)
    tiff.add(block: "image", [UInt8](repeating: white, count: 20_000))
    for (index, name) in ["a", "b", "c", "d"].enumerated() {
      tiff.add(block: name, [UInt8](repeating: UInt8(10 * index + 10), count: 60_000))
    }
    return tiff.bytes
  }

  private static func gray(_ file: [UInt8], _ side: Int) async throws -> UInt8 {
    try await TestRender.pixels(file, variant(side))[2, 2][0]
  }

  @Test(arguments: [true, false], [true, false])
  func overviewsAreFoundWhereverTheyAre(_ isBigEndian: Bool, _ areSubdirectories: Bool) async throws {
    let levels = [Self.page("a", 100, 50), Self.page("b", 50, 25), Self.page("c", 13, 7)]
    let file =
      areSubdirectories
      ? Self.file(chain: [], subdirectories: levels, isBigEndian: isBigEndian)
      : Self.file(chain: levels, isBigEndian: isBigEndian)
    #expect(try Self.sizes(file) == [PixelSize(100, 50), PixelSize(50, 25), PixelSize(13, 7)])
    #expect(try probe(.memory(file)).frameCount == 1)
    #expect(try await Self.gray(file, 50) == 10)
    #expect(try await Self.gray(file, 25) == 20)
    #expect(try await Self.gray(file, 6) == 30)
    #expect(try await Self.gray(file, 51) == Self.white)
  }

  @Test(arguments: [true, false]) func aSeriesOfHalvesIsAPyramid(_ areSubdirectories: Bool) async throws {
    func file(_ levels: [TIFFWriter.Directory]) -> [UInt8] {
      areSubdirectories ? Self.file(chain: [], subdirectories: levels) : Self.file(chain: levels)
    }
    let series = [Self.page("a", 100, 50, type: nil), Self.page("b", 50, 25, type: nil)]
    #expect(try Self.sizes(file(series)).count == 2)
    #expect(try probe(.memory(file(series))).frameCount == 1)
    #expect(try await Self.gray(file(series), 25) == 20)
    let broken = series + [Self.page("c", 24, 20, type: nil)]
    #expect(try Self.sizes(file(broken)).isEmpty)
    #expect(try probe(.memory(file(broken))).frameCount == (areSubdirectories ? 1 : 4))
    #expect(try Self.sizes(file([Self.page("a", 60, 30, type: nil)])).isEmpty)
  }

  @Test func whatIsNoCopyOfTheImageIsNotRead() async throws {
    let others = [
      Self.page("a", 100, 75), Self.page("a", 100, 50, samples: 3), Self.page("a", 100, 50, bits: 16),
      Self.page("a", 100, 50, type: 5), Self.page("a", 400, 200), Self.page("a", 200, 100), Self.page("a", 0, 0),
    ]
    for (index, other) in others.enumerated() {
      for file in [Self.file(chain: [other]), Self.file(chain: [], subdirectories: [other])] {
        #expect(try Self.sizes(file).isEmpty, "\(index)")
        #expect(try await Self.gray(file, 25) == Self.white, "\(index)")
      }
    }
  }

  @Test func theLevelsOfAnotherPageAreNotThoseOfTheFirst() async throws {
    let file = Self.file(chain: [
      Self.page("a", 50, 25), Self.page("b", 190, 95, type: 0), Self.page("c", 100, 50),
      Self.page("d", 20, 10, type: 5),
    ])
    let probed = try probe(.memory(file))
    #expect(probed.tiff?.levels.map(\.size) == [PixelSize(50, 25)] && probed.frameCount == 2)
    #expect(try await Self.gray(file, 25) == 10)
    #expect(try await Self.gray(file, 50) == Self.white)
  }

  @Test func levelsInOrderAreKnownFromAStream() throws {
    let file = Self.file(chain: [Self.page("a", 100, 50), Self.page("b", 50, 25)])
    let whole = try probe(.memory(file))
    for length in [1, 100, file.count] { #expect(HeaderProber.status(of: file, by: length) == .probed(whole)) }
  }

  @Test func theImagesProfileIsThatOfItsLevels() throws {
    var tiff = TIFFWriter()
    tiff.write(chain: [
      Self.page("image", 200, 100, type: nil) + [(0x8773, .bytes(Array("a profile".utf8)))], Self.page("a", 100, 50),
    ])
    for name in ["image", "a"] { tiff.add(block: name, [UInt8](repeating: 7, count: 20_000)) }
    let probed = try probe(.memory(tiff.bytes))
    let level = try #require(probed.tiff?.levels.first)
    let rows = try TIFFRowSource(.memory(tiff.bytes), probe: probed, level: level)
    #expect(level.lacksProfile && rows.layout.storedProfile == Array("a profile".utf8))
  }

  // MARK: Hostile files

  @Test func directoriesThatLeadInACircleAreReadOnce() async throws {
    let file = Self.file(chain: [Self.page("a", 100, 50)], subdirectories: [Self.page("b", 50, 25)])
    let levels = try #require(try probe(.memory(file)).tiff?.levels)
    #expect(levels.count == 2)
    let (first, second) = (levels[0].position, levels[1].position)
    // The first directory is at 8: its subdirectory is itself, or the page after it; that page leads back.
    for target in [8, first] {
      var copy = file
      let field = try #require(copy.indices.dropLast(4).first { Array(copy[$0..<$0 + 2]) == [0x4A, 1] })
      copy.replaceSubrange(field + 8..<field + 12, with: Self.long(target))
      copy.replaceSubrange(second - 4..<second, with: Self.long(8))
      #expect(try Self.sizes(copy).count <= 2)
      #expect(try await Self.gray(copy, 51) == Self.white)
    }
  }

  private static func long(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (8 * $0) & 255) } }

  @Test func tooManySubdirectoriesAreNotFollowed() async throws {
    var tiff = TIFFWriter()
    let places = (0..<65_535).map { 300_000 + 7 * $0 }
    tiff.write(chain: [Self.page("image", 200, 100, type: nil) + [(0x014A, .long(places))]])
    tiff.add(block: "image", [UInt8](repeating: Self.white, count: 600_000))
    #expect(try probe(.memory(tiff.bytes)).storedSize == PixelSize(200, 100))
    #expect(try Self.sizes(tiff.bytes).isEmpty)
    #expect(try await Self.gray(tiff.bytes, 25) == Self.white)
  }

  @Test func aLevelBeyondTheEndIsNotRead() async throws {
    let whole = Self.file(chain: [Self.page("a", 100, 50)])
    let level = try #require(try probe(.memory(whole)).tiff?.levels.first)
    let last = try #require(level.ranges?.last)
    // After the image's strip, before the level's.
    let cut = Array(whole.dropLast(4 * 60_000))
    #expect(last.upperBound > cut.count)
    #expect(try DecodePlan.make(cut, [Self.variant(25)]).passes[0].baseSize == PixelSize(200, 100))
    #expect(try await Self.gray(cut, 25) == Self.white)
  }

  @Test func endlessReducedPagesCountAsPages() throws {
    var tiff = TIFFWriter()
    tiff.write(chain: [Self.page("image", 200, 100, type: nil)] + (0..<300).map { _ in Self.page("image", 100, 50) })
    tiff.add(block: "image", [UInt8](repeating: 0, count: 20_000))
    let probed = try probe(.memory(tiff.bytes))
    #expect(try #require(probed.frameCount) > 200)
    #expect(probed.tiff?.levels.count == TIFFPyramid.mostLevels)
    var limits = DecodeLimits()
    limits.maximumFrames = 100
    #expect(throws: CodecError.self) { try probe(.memory(tiff.bytes), limits: limits) }
  }

  private static let small = TestPicture.texture(300, 200)

  @Test(arguments: ["compression=deflate", "subifd=true,compression=jpeg", "bigtiff=true"])
  func damagedPyramidsNeverTrap(_ options: String) throws {
    let file = try Self.pyramid(options, Self.small)
    let traits = try #require(try probe(.memory(file)).tiff)
    let directories = traits.levels.map(\.position)
    var random = SplitMix(state: 5)
    for round in Thoroughness.rounds(200) {
      var copy = file
      for _ in 0...round % 4 {
        let place = directories[round % directories.count] + Int.random(in: 0..<220, using: &random)
        copy[min(place, copy.count - 1)] = UInt8.random(in: 0...255, using: &random)
      }
      if round % 9 == 0 { copy.removeLast(Int.random(in: 0..<copy.count / 2, using: &random)) }
      guard let probed = try? probe(.memory(copy)) else { continue }
      for level in probed.tiff?.levels ?? [] {
        _ = try? SourceRows(TIFFRowSource(.memory(copy), probe: probed, level: level))
      }
    }
  }
}
