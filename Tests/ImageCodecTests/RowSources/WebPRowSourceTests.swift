@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5))) struct WebPRowSourceTests {
  private static func rows(_ bytes: [UInt8], _ size: PixelSize? = nil) throws(CodecError) -> SourceRows {
    let body = ByteSource.memory(bytes)
    let probe = try probe(body)
    return try SourceRows(try WebPRowSource(body, probe: probe, size: size ?? probe.storedSize))
  }

  /// What libvips makes of a file at a scale.
  private static func libvips(_ bytes: [UInt8], scale: Double = 1) throws -> SourceRows {
    try Codec.start()
    return try SourceRows(
      try BodyReader(.memory(bytes), cancellation: CancellationFlag())
        .load(.webp, VIPS_FAIL_ON_ERROR, option: scale == 1 ? nil : .scale(scale)))
  }

  /// One band as an image.
  private static func gray(_ samples: [UInt8], _ size: PixelSize) -> DecodedPixels {
    DecodedPixels(size: size, bands: 1, bytes: samples)
  }

  /// JFIF's luma of RGB pixels.
  private static func luma(_ rows: SourceRows) -> [UInt8] {
    let (pixels, weights) = (rows.planes[0], [0.299, 0.587, 0.114])
    return stride(from: 0, to: pixels.count, by: 3).map { index in
      var sum = 0.0
      for band in 0..<3 { sum += weights[band] * Double(pixels[index + band]) }
      return UInt8(sum.rounded())
    }
  }

  @Test func aLossyImageOfGraysEqualsLibvipsWithinOneLevel() throws {
    let picture = TestPicture(97, 61) { x, y in [UInt8](repeating: UInt8(min(255, x * 2 + y)), count: 4) }
    let file = try picture.encoded("webpsave_buffer", "Q=95")
    let (ours, theirs) = (try Self.rows(file), Self.luma(try Self.libvips(file)))
    #expect(ours.layout.colour == .ycc)
    #expect(zip(ours.planes[0], theirs).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    #expect((ours.planes[1] + ours.planes[2]).allSatisfy { abs(Int($0) - 128) <= 2 })
  }

  @Test func chromaIsFullRangeAndHalfSize() throws {
    for (colour, cb, cr) in [
      ([255, 0, 0] as [UInt8], 85, 255), ([0, 0, 255], 255, 107), ([0, 255, 0], 44, 21), ([90, 140, 200], 166, 98),
    ] {
      let file = try TestPicture(33, 17) { _, _ in colour + [255] }.encoded("webpsave_buffer", "Q=100")
      let rows = try Self.rows(file)
      #expect(rows.layout.planes[1].size == PixelSize(17, 9))
      #expect(rows.layout.planes[1].extent == PixelExtent(width: 16.5, height: 8.5))
      #expect(rows.planes[1].allSatisfy { abs(Int($0) - cb) <= 3 }, "\(colour): \(rows.planes[1][0])")
      #expect(rows.planes[2].allSatisfy { abs(Int($0) - cr) <= 3 }, "\(colour): \(rows.planes[2][0])")
    }
  }

  @Test(arguments: [PixelSize(300, 200), PixelSize(151, 101), PixelSize(75, 50), PixelSize(299, 199), PixelSize(1, 1)])
  func aScaledLossyImageLooksLikeLibvips(_ size: PixelSize) throws {
    let file = try TestPicture.texture(300, 200).encoded("webpsave_buffer", "Q=90")
    let ours = try Self.rows(file, size)
    #expect(ours.layout.planes.map(\.size) == [size, half(size), half(size)])
    #expect(ours.planes.map(\.count) == ours.layout.planes.map(\.size.pixelCount))
    let scale = max(Double(size.width) / 300, Double(size.height) / 200)
    let theirs = try Self.libvips(file, scale: scale)
    guard theirs.layout.planes[0].size == size else { return }
    let similarity = structuralSimilarity(Self.gray(ours.planes[0], size), Self.gray(Self.luma(theirs), size))
    #expect(similarity > 0.99 || size.width < 8, "\(similarity)")
  }

  private func half(_ size: PixelSize) -> PixelSize { PixelSize((size.width + 1) / 2, (size.height + 1) / 2) }

  @Test func alphaAndLosslessPixelsEqualLibvips() throws {
    for (bands, options) in [(4, "Q=80"), (4, "lossless=true"), (3, "lossless=true")] {
      let file = try TestPicture.texture(120, 90, bands: bands).encoded("webpsave_buffer", options)
      for scale in [1, 0.5, 0.3] {
        let theirs = try Self.libvips(file, scale: scale)
        #expect(try Self.rows(file, theirs.layout.planes[0].size) == theirs, "\(bands) \(options) \(scale)")
      }
    }
  }

  @Test func anImageThatIsNotReducedEqualsLibvips() async throws {
    let size = PixelSize(97, 61)
    let file = try TestPicture.texture(97, 61).encoded("webpsave_buffer", "Q=80")
    let ours = try await TestRender.one(file, Variant(size: size, format: .png))
    let theirs = try Self.libvips(file)
    #expect(ours.size == size)
    #expect(try DecodedPixels(ours.data).bytes == theirs.planes[0])
  }

  @Test func theProfileIsPassedOn() throws {
    let picture = TestPicture.texture(40, 30)
    let plain = try Self.rows(try picture.encoded("webpsave_buffer"))
    #expect(plain.layout.profile == nil)
    let file = try picture.encoded("webpsave_buffer", "profile=srgb")
    let profile = try #require(try Self.rows(file).layout.profile)
    #expect(ICCProfile(profile)?.isSRGB == true)
  }

  @Test func aFileThatEndsAnywhereIsTruncated() throws {
    for (bands, options) in [(3, "Q=80"), (4, "Q=80"), (3, "lossless=true")] {
      let file = try TestPicture.texture(40, 30, bands: bands).encoded("webpsave_buffer", options)
      for length in 1..<file.count {
        let error = #expect(throws: CodecError.self, "\(length)") { try Self.rows(Array(file.prefix(length))) }
        #expect(length <= 30 || error?.kind == "truncated", "\(options) \(length)")
      }
    }
  }

  @Test func damagedFilesAreJudgedAsByLibvips() throws {
    // With other numbers a file may announce alpha that it lacks: libwebp's decoder reads it, its demuxer does not.
    var random = SplitMix(state: 6)
    var judged = SourceRows.Judged()
    let files = try (0..<6).map { kind in
      try TestPicture.texture(48, 40, bands: 3 + kind % 2)
        .encoded("webpsave_buffer", kind % 3 == 0 ? "lossless=true" : "Q=80")
    }
    for round in 0..<400 {
      var file = files[round % 6]
      random.damage(&file, in: round % 4 == 0 ? 0..<60 : 30..<file.count, places: 1 + round % 3)
      guard let probe = try? probe(.memory(file)), probe.storedSize.pixelCount < 1_000_000 else { continue }
      judge(file, "\(round)", &judged)
    }
    #expect(judged.counts.read > 30 && judged.counts.refused > 30, "\(judged.counts)")
  }

  private func judge(_ file: [UInt8], _ name: String, _ judged: inout SourceRows.Judged) {
    let theirs = try? Self.libvips(file)
    judged.judge(file, theirs, name, { bytes throws(CodecError) in try Self.rows(bytes) }) { ours in
      ours.layout.planes[0].size == theirs?.layout.planes[0].size
        && (ours.layout.colour != .interleaved || ours.withAlpha == theirs?.withAlpha)
    }
  }

  @Test(.withTheCorpus) func theCorpusIsReadAsByLibvips() throws {
    var judged = SourceRows.Judged()
    for (name, bytes) in try SharedCorpus.files(.webp) {
      guard let probe = try? probe(.memory(bytes)) else { continue }
      let before = judged.counts.handedOver
      judge(bytes, name, &judged)
      #expect(judged.counts.handedOver == before || probe.frameCount != 1, "\(name)")
    }
    #expect(judged.counts.read > 20)
  }

  @Test func whatCannotBeScaledIsRefused() throws {
    let file = try TestPicture.texture(40, 30).encoded("webpsave_buffer")
    for size in [PixelSize(41, 30), PixelSize(0, 30), PixelSize(40, 31)] {
      #expect(throws: CodecError.invalidSize(size)) { try Self.rows(file, size) }
    }
    var wrong = try probe(.memory(file))
    wrong.storedSize = PixelSize(50, 30)
    #expect(throws: CodecError.self) { try WebPRowSource(.memory(file), probe: wrong, size: PixelSize(10, 10)) }
    #expect(WebPRowSource.peakBytes(of: wrong, size: PixelSize(10, 10), bodyLength: file.count) < 2 << 20)
  }
}
