@testable import CodecTestSupport
@testable import ImageCodec

/// Our PNG decoder against libvips, that is libpng, on files made here.
@Suite(.timeLimit(.minutes(5))) struct PNGRowSourceTests {
  private func expectSame(_ file: [UInt8], _ name: @autoclosure () -> String) throws {
    // Not the values: a difference would be printed byte by byte.
    #expect((try PNGRows(.memory(file)) == PNGRows(libvips: file)) == true, "\(name())")
  }

  @Test(arguments: TestPNG.kinds) func everyKindFilterAndWidthIsAsLibpngReadsIt(colour: Int, depth: Int) throws {
    for width in 1...17 {
      for filters: [UInt8] in [[0], [1], [2], [3], [4], [0, 4, 1, 3, 2, 4]] {
        let png = TestPNG(
          width, filters.count == 1 ? 3 : 6, colour: colour, depth: depth, filters: filters, seed: UInt64(width))
        try expectSame(png.bytes(), "\(width) pixels, filters \(filters)")
      }
    }
  }

  @Test(arguments: TestPNG.kinds) func transparencyIsExpandedAsByLibpng(colour: Int, depth: Int) throws {
    for transparent: [UInt8] in [
      [0, 0], [0, 1], [255, 255], [1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0], [0, 128, 255],
    ] {
      var png = TestPNG(9, 5, colour: colour, depth: depth, filters: [0, 2])
      // Some rows of zeros, so that the transparent colours occur.
      for index in 0..<png.stored.count / 2 { png.stored[index] = 0 }
      png.chunks.append(("tRNS", transparent))
      let isValid =
        switch colour {
        case 0: transparent.count == 2
        case 2: transparent.count == 6
        case 3: transparent.count <= 1 << depth
        default: true
        }
      if isValid {
        try expectSame(png.bytes(), "\(transparent)")
      } else {
        #expect(throws: CodecError.handedOver(reason: "an invalid transparency chunk of a PNG")) {
          try PNGRows(.memory(png.bytes()))
        }
      }
    }
  }

  /// Rows that take more than the buffer, and many bands.
  @Test(arguments: [(30_000, 2, 6, 16), (65_535, 2, 6, 16), (300, 400, 2, 8), (1, 3000, 0, 1), (200, 300, 3, 4)])
  func imagesOfManyBandsAreWhole(width: Int, height: Int, colour: Int, depth: Int) throws {
    let png = TestPNG(width, height, colour: colour, depth: depth, filters: [2, 0])
    try expectSame(png.bytes(), "\(width)×\(height)")
  }

  @Test(arguments: ["compression=1", "compression=9", "compression=6,filter=all", "compression=0,filter=paeth"])
  func whatLibvipsWritesIsRead(_ options: String) throws {
    for bands in 1...4 {
      let file = try TestPicture.texture(150, 130, bands: bands).encoded("pngsave_buffer", options)
      try expectSame(file, "\(bands) bands")
    }
  }

  @Test(arguments: [[1], [2], [3], [1, 0, 0], [0, 5], [7, 0, 100]])
  func pixelsMayBeCutIntoChunksAnywhere(_ pieces: [Int]) throws {
    let file = try TestPicture.texture(20, 16).encoded("pngsave_buffer", "compression=9,filter=all")
    let parsed = TestPNG.parse(file)
    let stream = parsed.filter { $0.type == "IDAT" }.flatMap(\.data)
    var png = TestPNG(20, 16, colour: 2, depth: 8, filters: [0])
    png.pieces = pieces
    try expectSame(png.bytes(stream: stream), "\(pieces)")
    let whole = try PNGRows(.memory(file))
    #expect((try PNGRows(.memory(png.bytes(stream: stream))) == whole) == true)
  }

  @Test func aFileIsReadLikeMemory() throws {
    let file = try TestPicture.texture(300, 200).encoded("pngsave_buffer", "compression=0")
    let inFile = try ByteSource.withFile(file) { body, _ in try PNGRows(body) }
    #expect((try PNGRows(.memory(file)) == inFile) == true)
  }

  @Test func interlacedImagesAreReadAsOthers() throws {
    for (width, height) in [(20, 20), (1, 1), (2, 3), (5, 1), (1, 9), (9, 5)] {
      let picture = TestPicture.texture(width, height)
      let plain = try PNGRows(.memory(picture.encoded("pngsave_buffer", "")))
      let interlaced = try PNGRows(.memory(picture.encoded("pngsave_buffer", "interlace=true")))
      #expect((interlaced == plain) == true, "\(width)x\(height)")
    }
  }

  @Test func theOrientationMayFollowThePixels() throws {
    let file = TestPNG(4, 3, colour: 2, depth: 8, filters: [0]).bytes()
    let end = file.count - 12
    let exif: [UInt8] = Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
    let turned = Array(file[..<end]) + TestPNG.chunk("eXIf", exif) + Array(file[end...])
    #expect(try probe(.memory(file)).size == PixelSize(4, 3))
    #expect(try probe(.memory(turned)).size == PixelSize(3, 4))
    // The header is settled before the pixels, and the end is added once it has come.
    var prober = HeaderProber(limits: DecodeLimits())
    for (part, size) in [(turned.dropLast(40), PixelSize(4, 3)), (turned.suffix(40), PixelSize(3, 4))] {
      let status = part.withUnsafeBytes { prober.feed($0) }
      guard case .probed(let found) = status else { Issue.record("\(status)"); return }
      #expect(found.size == size)
    }
  }

  @Test(arguments: [0, 1, 3, 1 << 31, 1 << 32 - 1])
  func ofAnAnimationTheDefaultImageIsReadWhateverItSaysOfFrames(_ count: Int) throws {
    let file = TestPNG(4, 3, colour: 2, depth: 8, filters: [0]).bytes()
    let animation = TestPNG.chunk("acTL", TestPNG.long(count) + TestPNG.long(0))
    let animated = Array(file[..<33]) + animation + Array(file[33...])
    #expect(try probe(.memory(animated)).frameCount == 1)
    #expect((try PNGRows(.memory(animated)) == PNGRows(.memory(file))) == true)
  }

  @Test func anotherSizeThanTheProbedOneIsDamage() throws {
    let body = ByteSource.memory(TestPNG(4, 4, colour: 2, depth: 8, filters: [0]).bytes())
    var probe = try probe(body)
    probe.storedSize = PixelSize(4, 5)
    let error = #expect(throws: CodecError.self) { try PNGRows(body, probe: probe) }
    if case .damaged(.header, _)? = error {} else { Issue.record("\(String(describing: error))") }
  }

  // MARK: Profiles

  private static func profiled(_ change: (inout TestPNG, inout [UInt8]) -> Void = { _, _ in }) throws -> [UInt8] {
    let source = try TestPicture.save(TestPicture.apply("icc_transform", to: texture(), "p3"), "pngsave_buffer")
    var profile = try #require(try PNGRows(libvips: source).profile)
    var png = TestPNG(4, 4, colour: 2, depth: 8, filters: [4])
    change(&png, &profile)
    png.chunks.insert(("iCCP", Array("name".utf8) + [0, 0] + TestPNG.zlib(profile)), at: 0)
    return png.bytes()
  }

  private static func texture() throws -> LibvipsImage {
    let reader = BodyReader(.memory(try TestPicture.texture(8, 8).encoded()), cancellation: CancellationFlag())
    return try reader.load(.png, .init(0))
  }

  @Test func profilesAreHandedOn() throws {
    let file = try Self.profiled()
    #expect(try PNGRows(.memory(file)).profile?.count ?? 0 > 200)
    try expectSame(file, "a profile")
  }

  @Test func invalidProfilesAreIgnored() throws {
    let changes: [(String, (inout TestPNG, inout [UInt8]) -> Void)] = [
      ("its length", { _, profile in profile[3] &+= 4 }), ("its signature", { _, profile in profile[36] = 0 }),
      ("its colours", { _, profile in profile[16] = 0x47 }), ("its tags", { _, profile in profile[131] = 255 }),
      ("a tag", { _, profile in profile[136] = 255 }),
      (
        "its intent",
        { _, profile in
          profile[66] = 255; profile[67] = 255
        }
      ),
      ("on gray", { png, _ in png = TestPNG(4, 4, colour: 0, depth: 8, filters: [0]) }),
    ]
    for (name, change) in changes {
      let file = try Self.profiled(change)
      do {
        #expect(try PNGRows(.memory(file)).profile == nil, "\(name)")
        try expectSame(file, name)
      } catch CodecError.handedOver {
        // Its length says more than there is.
        #expect(name == "its length")
      }
    }
  }

  @Test func aProfileBesideOtherColourSpacesIsLeftToLibpng() throws {
    let numbers = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]
    let primaries = numbers.flatMap { TestPNG.long($0) }
    let black = [UInt8](repeating: 0, count: 32)
    let cases: [(TestPNG.Chunk, Bool)] = [
      (("gAMA", TestPNG.long(45_455)), true), (("cHRM", primaries), true), (("sRGB", [0]), false),
      (("gAMA", TestPNG.long(0)), false), (("cHRM", black), false),
    ]
    for (chunk, isRead) in cases {
      let file = try Self.profiled { png, _ in png.chunks.append(chunk) }
      if isRead {
        try expectSame(file, chunk.type)
      } else {
        #expect(throws: CodecError.handedOver(reason: "an unusual colour space of a PNG")) {
          try PNGRows(.memory(file))
        }
      }
    }
  }

  // MARK: Memory

  @Test func theMemoryPeakGrowsByRowsOnly() {
    var probe = ImageProbe(format: .png, storedSize: PixelSize(3000, 2000))
    let peak = PNGRowSource.peakBytes(of: probe)
    #expect(peak < 4 << 20)
    probe.storedSize = PixelSize(3000, 60_000)
    #expect(PNGRowSource.peakBytes(of: probe) == peak)
  }
}
