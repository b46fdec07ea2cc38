@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5))) struct HeaderProberTests {
  private func stream(_ bytes: [UInt8], by length: Int, limits: DecodeLimits = .init()) -> HeaderProber.Status {
    HeaderProber.status(of: bytes, by: length, limits: limits)
  }

  private static let savers: [(saver: String, options: String, format: ImageFormat)] = [
    ("jpegsave_buffer", "", .jpeg), ("jpegsave_buffer", "interlace=true", .jpeg), ("pngsave_buffer", "", .png),
    ("pngsave_buffer", "interlace=true", .png), ("webpsave_buffer", "", .webp),
    ("webpsave_buffer", "lossless=true", .webp), ("gifsave_buffer", "", .gif), ("tiffsave_buffer", "", .tiff),
    ("tiffsave_buffer", "bigtiff=true,tile=true", .tiff), ("heifsave_buffer", "compression=av1,effort=0", .avif),
  ]

  @Test(arguments: savers.indices) func aStreamTellsWhatTheWholeBodyTells(_ index: Int) throws {
    let (saver, options, format) = Self.savers[index]
    let file = try TestPicture.texture(173, 91).encoded(saver, options)
    let whole = try probe(.memory(file))
    #expect(whole.format == format)
    #expect(whole.size == PixelSize(173, 91))
    for length in [1, 13, 4096, file.count] {
      switch stream(file, by: length) {
      case .probed(let probed): #expect(probed == whole)
      // A TIFF's directory stands at its end and points backwards.
      case .unclear: #expect(format == .tiff)
      case let other: Issue.record("\(saver) by \(length): \(other)")
      }
    }
  }

  @Test func factsForThePlanAreRead() throws {
    let picture = TestPicture.texture(64, 64)
    let progressive = try probe(.memory(picture.encoded("jpegsave_buffer", "interlace=true,subsample-mode=off")))
    #expect(progressive.isProgressive && progressive.samplesPerPixel == 3)
    let sequential = try probe(.memory(picture.encoded("jpegsave_buffer", "subsample-mode=on")))
    #expect(!sequential.isProgressive && sequential.samplesPerPixel == 1.5)
    #expect(try probe(.memory(picture.encoded("pngsave_buffer", "interlace=true"))).isProgressive)
    #expect(try probe(.memory(picture.encoded("webpsave_buffer", "lossless=true"))).isLossless)
    let clear = try probe(.memory(TestPicture.texture(64, 64, bands: 4).encoded()))
    #expect(clear.hasAlpha == true && clear.channels == 4)
  }

  @Test func theHeaderAloneIsEnough() throws {
    let file = try TestPicture.texture(500, 500).encoded("jpegsave_buffer", "Q=95")
    #expect(stream(Array(file.prefix(1000)), by: 100) == .probed(try probe(.memory(file))))
  }

  /// A JPEG that claims to be huge: start, frame header, nothing else.
  private func claim(_ width: Int, _ height: Int) -> [UInt8] {
    let sides = [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) }
    let start: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC2, 0, 17, 8]
    let components: [UInt8] = [3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0]
    // The beginning of a table, so that there is enough to tell the format from.
    let table: [UInt8] = [0xFF, 0xC4, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0]
    return start + sides + components + table
  }

  @Test func aPictureThatClaimsTooMuchIsRefusedFromItsHeader() {
    let error = CodecError.limitExceeded(.pixels(PixelSize(60000, 60000)), value: 3_600_000_000, maximum: 268_435_456)
    #expect(stream(claim(60000, 60000), by: 5) == .failed(error))
    #expect(throws: error) { try probe(.memory(claim(60000, 60000))) }
    #expect(error.description == "the picture claims 60000x60000 = 3600000000 pixels, more than the limit of 268435456")
  }

  @Test func aBombOfTinyFramesIsRefused() {
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 1, 0x44, 0]
    let file = Array("GIF89a".utf8) + [2, 0, 2, 0, 0, 0, 0] + (0..<50).flatMap { _ in frame } + [0x3B]
    var limits = DecodeLimits()
    #expect(throws: Never.self) { try probe(.memory(file), limits: limits).frameCount == 50 }
    limits.maximumFrames = 20
    let error = CodecError.limitExceeded(.frames, value: 21, maximum: 20)
    #expect(throws: error) { try probe(.memory(file), limits: limits) }
    #expect(stream(file, by: 7, limits: limits) == .failed(error))
  }

  /// A TIFF of a directory for each kind of image (1: reduced, 2: one of several pages, 4: a mask; nil if not stated).
  private func tiff(_ kinds: [Int?]) -> [UInt8] {
    let image: TIFFWriter.Directory = [(0x0100, .short([4])), (0x0101, .short([3]))]
    var tiff = TIFFWriter()
    tiff.write(chain: kinds.map { $0.map { [(0x00FE, .long([$0]))] + image } ?? image })
    return tiff.bytes
  }

  private static let kinds: [(kinds: [Int?], pages: Int)] = [
    ([nil], 1), ([1, 1], 1), ([nil, 1, 4, 5], 1), ([nil, nil, 1, 2], 3),
    // A few of those without end count.
    ([nil] + [Int?](repeating: 1, count: 300), 237),
  ]

  @Test(arguments: kinds)
  func pagesOfATIFFAreCounted(_ kinds: [Int?], _ pages: Int) throws {
    let file = tiff(kinds)
    let probed = try probe(.memory(file))
    #expect(probed.frameCount == pages && stream(file, by: 9) == .probed(probed))
    // The last directory leads to the first one.
    #expect(try probe(.memory(Array(file.dropLast(4)) + [8, 0, 0, 0])) == probed)
    var limits = DecodeLimits()
    limits.maximumFrames = pages - 1
    #expect(throws: CodecError.self) { try probe(.memory(file), limits: limits) }
  }

  @Test func memoryStaysBoundedWhateverComes() throws {
    // Segments without end, a chunk that claims two gigabytes, a table of contents longer than is read.
    var segments: [UInt8] = [0xFF, 0xD8]
    let segment: [UInt8] = [0xFF, 0xE1, 0xFF, 0xFF]
    for _ in 0..<40 { segments += segment + [UInt8](repeating: 7, count: 65533) }
    #expect(stream(segments, by: 5000) == .more)
    let header = try TestPicture.texture(8, 8).encoded().prefix(33)
    let png = header + [0x7F, 0xFF, 0xFF, 0xFF] + "tEXt".utf8 + [UInt8](repeating: 0, count: 1 << 20)
    #expect(stream(Array(png), by: 9999) == .more)
    let meta = Array("\0\0\0\u{10}ftypavif\0\0\0\0\u{7F}\0\0\0meta".utf8) + [UInt8](repeating: 0, count: 5000)
    #expect(isDamaged(stream(meta, by: 100)))
  }
  private func isDamaged(_ status: HeaderProber.Status) -> Bool {
    if case .failed(.damaged) = status { true } else { false }
  }

  @Test func headersThatBreakOffAreTruncated() throws {
    #expect(throws: CodecError.empty) { try probe(.memory([])) }
    for (saver, options, _) in Self.savers where saver != "tiffsave_buffer" {
      let file = try TestPicture.texture(173, 91).encoded(saver, options)
      #expect(throws: CodecError.self) { try probe(.memory(Array(file.prefix(20)))) }
    }
  }

  @Test func hostileHeadersNeverTrap() throws {
    for (saver, options, format) in Self.savers {
      let file = try TestPicture.texture(40, 30).encoded(saver, options)
      // A TIFF's directory stands at its end.
      let header = format == .tiff ? file.indices.suffix(400) : file.indices.prefix(400)
      var random = SplitMix(state: 42)
      for _ in Thoroughness.rounds(300) {
        var copy = file
        random.damage(&copy, in: header, places: 4)
        let plan = try? DecodePlan.make(copy, [Variant(size: PixelSize(30, 30))])
        #expect(plan.map { $0.predictedBytes > 0 } != false)
        _ = stream(copy, by: 100)
      }
    }
  }

  @Test func aGIFOfEndlessTinyBlocksIsRefused() {
    let screen: [UInt8] = Array("GIF89a".utf8) + [2, 0, 2, 0, 0, 0, 0]
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2]
    let zeros = [UInt8](repeating: 0, count: 200_000)
    let ones = [UInt8](repeating: 1, count: 400_000)
    for file in [screen + zeros, screen + frame + ones] { #expect(isDamaged(stream(file, by: 16384))) }
  }
}
