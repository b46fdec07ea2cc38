import HEIFContainer

@testable import CodecTestSupport
@testable import ImageCodec

/// Grids decoded by one decoder and by two.
@Suite(.timeLimit(.minutes(5))) struct TileTeamTests {
  private static let formats = [ImageFormat.heif, .avif]

  /// 24 tiles in six columns, each another one.
  private static func grid(_ format: ImageFormat) throws -> [UInt8] {
    try TileFile(format: format, side: 64).bytes(TestPicture.texture(384, 256))
  }

  private static func rows(
    _ bytes: [UInt8], _ traits: HEIFTraits, onTwoThreads: Bool, convertsColours: Bool = false
  ) -> Result<SourceRows, CodecError> {
    Result { () throws(CodecError) in
      try SourceRows(
        try HEIFRowSource(.memory(bytes), traits, convertsColours: convertsColours, onTwoThreads: onTwoThreads))
    }
  }

  @Test(arguments: formats) func twoDecodersDeliverWhatOneDoes(_ format: ImageFormat) throws {
    let bytes = try Self.grid(format)
    let probed = try probe(.memory(bytes))
    let traits = try #require(probed.heif)
    #expect(traits.image.tiles.count == 24 && probed.canUseTwoProcessors)
    for convertsColours in [false, true] {
      let alone = try Self.rows(bytes, traits, onTwoThreads: false, convertsColours: convertsColours).get()
      for _ in 0..<3 {
        let made = Self.rows(bytes, traits, onTwoThreads: true, convertsColours: convertsColours)
        #expect(made == .success(alone))
      }
    }
  }

  @Test func aPhonesGridLooksTheSameWithTwo() throws {
    let bytes = [UInt8](try TestImages.bytes("formats/heic-grid.heic"))
    let traits = try #require(try probe(.memory(bytes)).heif)
    #expect(Self.rows(bytes, traits, onTwoThreads: true) == Self.rows(bytes, traits, onTwoThreads: false))
  }

  @Test func theErrorIsThatOfTheFirstTileThatFails() throws {
    let bytes = try Self.grid(.heif)
    let traits = try #require(try probe(.memory(bytes)).heif)
    for count in stride(from: bytes.count - 1, to: bytes.count / 10, by: -bytes.count / 50) {
      let cut = Array(bytes[..<count])
      let alone = Self.rows(cut, traits, onTwoThreads: false)
      #expect(Self.rows(cut, traits, onTwoThreads: true) == alone, "\(count) of \(bytes.count) bytes")
      #expect((try? alone.get()) == nil, "\(count) of \(bytes.count) bytes are read")
    }
  }

  @Test func stripsAreReadInAnyOrder() throws {
    let bytes = try Self.grid(.heif)
    let traits = try #require(try probe(.memory(bytes)).heif)
    let file = try HEIFFile(.memory(bytes))
    let alone = try TileStrip(traits.image, of: file, skipsFilters: false, onTwoThreads: false)
    let two = try TileStrip(traits.image, of: file, skipsFilters: false, onTwoThreads: true)
    for row in [0, 70, 200, 10, 64, 130, 0, 255] {
      try alone.load(row)
      try two.load(row)
      #expect(alone.rows == two.rows && alone.rows.contains(row))
      for (one, other) in zip(alone.planes, two.planes) {
        #expect(memcmp(one.start, other.start, one.stride * one.size.height) == 0, "row \(row)")
      }
    }
  }

  @Test func aHelperDecodesAGridOnTwoThreads() async throws {
    let bytes = try Self.grid(.avif)
    let variant = Variant(size: PixelSize(200, 200), fit: .contain, format: .png)
    let probed = try probe(.memory(bytes))
    let bench = HelperBench()
    let alone = try #require(try await bench.render(bytes, .avif, [variant], probe: probed).first).get()
    let two = try #require(
      try await bench.render(bytes, .avif, [variant], probe: probed, hasSpareProcessor: true).first
    ).get()
    #expect(alone.data == two.data)
  }

  @Test func theCostCountsBothDecoders() throws {
    let grid = try Self.grid(.heif)
    var single = try probe(.memory(grid))
    let traits = try #require(single.heif)
    single.heif = nil
    let plan = try DecodePlan.make(grid, [Variant(size: PixelSize(64, 64))])
    #expect(plan.predictedBytes > DecodeCost.fixed + 2 * DecodeCost.tile(of: traits.image))
    #expect(!single.canUseTwoProcessors)
  }
}
