@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5))) struct GIFRowSourceTests {
  private static func rows(_ bytes: [UInt8]) throws(CodecError) -> SourceRows {
    let body = ByteSource.memory(bytes)
    return try SourceRows(try GIFRowSource(body, probe: try probe(body)))
  }

  static func palette(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SplitMix(state: seed)
    return (0..<count * 3).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// A frame of noise, with longer runs the smaller `detail` is.
  static func frame(
    _ width: Int, _ height: Int, codeSize: Int = 8, detail: Int = 50, seed: UInt64 = 7
  ) -> GIFWriter.Frame {
    var random = SplitMix(state: seed)
    var index: UInt8 = 0
    let indices = (0..<width * height).map { _ in
      if Int.random(in: 0..<100, using: &random) < detail {
        index = UInt8.random(in: 0...UInt8((1 << codeSize) - 1), using: &random)
      }
      return index
    }
    return GIFWriter.Frame(width: width, height: height, indices: indices, codeSize: codeSize)
  }

  /// The pixels with alpha; where libvips paints black what a frame does not cover, opaque.
  private static func seen(_ rows: SourceRows?) -> [UInt8]? {
    (rows?.withAlpha).map(withOpaqueBlack)
  }

  /// Equal to libvips' pixels; a source without alpha may stand for one whose alpha is opaque.
  private func expectEqual(_ bytes: [UInt8], _ what: String) throws {
    let (ours, theirs) = (try Self.rows(bytes), try SourceRows(libvips: bytes, .gif))
    #expect(ours.layout.planes[0].size == theirs.layout.planes[0].size, "\(what)")
    #expect(Self.seen(ours) == Self.seen(theirs), "\(what)")
  }

  @Test func whatAFrameDoesNotCoverIsTransparent() throws {
    var frame = Self.frame(20, 10, codeSize: 4, detail: 50)
    (frame.left, frame.top) = (5, 5)
    let file = GIFWriter(width: 40, height: 30, palette: Self.palette(256), frames: [frame]).file
    let pixels = try Self.rows(file).withAlpha
    for (x, y) in [(0, 0), (4, 5), (25, 5), (5, 15), (39, 29)] { #expect(pixels[(y * 40 + x) * 4 + 3] == 0) }
    for (x, y) in [(5, 5), (24, 14)] { #expect(pixels[(y * 40 + x) * 4 + 3] == 255) }
  }

  @Test(arguments: Thoroughness.cases([2, 3, 7, 8], of: Array(2...8)))
  func everyCodeSizeIsReadAsByLibvips(_ codeSize: Int) throws {
    for (detail, clearing) in [(100, GIFWriter.Clearing.whenFull), (20, .never), (3, .every(777)), (100, .never)] {
      var frame = Self.frame(301, 203, codeSize: codeSize, detail: detail)
      frame.clearing = clearing
      let file = GIFWriter(width: 301, height: 203, palette: Self.palette(1 << codeSize), frames: [frame]).file
      try expectEqual(file, "\(detail), \(clearing)")
    }
  }

  @Test func aStringLongerThanABandIsRead() throws {
    for width in [8, 40_000] {
      var frame = Self.frame(width, 500_000 / width, detail: 0)
      frame.clearing = .never
      try expectEqual(GIFWriter(width: 1, height: 1, palette: Self.palette(2), frames: [frame]).file, "\(width)")
    }
  }

  @Test func interlacedFramesOfEveryHeightAreRead() throws {
    for height in Array(1...20) + [333] {
      var frame = Self.frame(31, height)
      frame.isInterlaced = true
      try expectEqual(
        GIFWriter(width: 31, height: height, palette: Self.palette(256), frames: [frame]).file, "\(height)")
    }
  }

  @Test func partialAndTransparentFramesAreReadAsByLibvips() throws {
    for (isInterlaced, transparent, later) in [
      (false, nil, nil), (true, nil, nil), (false, 3, nil), (true, 3, nil), (false, nil, 5), (true, 200, 5),
    ] as [(Bool, UInt8?, UInt8?)] {
      for (left, top, width, height) in [(0, 0, 90, 70), (11, 13, 50, 40), (0, 20, 90, 10), (40, 0, 50, 70)] {
        var frame = Self.frame(width, height, detail: 30)
        (frame.left, frame.top, frame.isInterlaced, frame.transparent) = (left, top, isInterlaced, transparent)
        var second = Self.frame(90, 70)
        second.transparent = later
        let file = GIFWriter(width: 90, height: 70, palette: Self.palette(256), frames: [frame, second]).file
        try expectEqual(file, "\((isInterlaced, transparent, later)) \((left, top, width, height))")
      }
    }
  }

  @Test func palettesAreLocalGlobalShortOrMissing() throws {
    for (common, local) in [(256, nil), (nil, 256), (2, nil), (nil, 16), (nil, nil), (256, 4)] as [(Int?, Int?)] {
      for transparent in [nil, 1] as [UInt8?] {
        var frame = Self.frame(64, 64)
        frame.palette = local.map { Self.palette($0, seed: 9) }
        frame.transparent = transparent
        try expectEqual(
          GIFWriter(width: 64, height: 64, palette: common.map { Self.palette($0) }, frames: [frame]).file,
          "\(common ?? 0), \(local ?? 0)")
      }
    }
  }

  @Test func blocksOfAnyLengthAndFramesThatEndEarlyAreRead() throws {
    for isInterlaced in [false, true] {
      for (block, shortage, endsWithCode) in [
        (1, 0, true), (2, 0, false), (3, 500, true), (255, 500, false), (254, 1, true), (7, 0, false),
      ] {
        var frame = Self.frame(50, 40, detail: 60)
        (frame.isInterlaced, frame.blockLength, frame.endsWithCode) = (isInterlaced, block, endsWithCode)
        var file = GIFWriter(width: 50, height: 40, palette: Self.palette(256), frames: [frame]).file
        if shortage > 0 {
          // A canvas of more rows than the frame's data has.
          let descriptor = try #require(file.indices.first { file[$0] == 0x2C && file[$0 + 5] == 50 })
          file[descriptor + 7] = 60
        }
        try expectEqual(file, "\(block), \(shortage), \(endsWithCode)")
      }
    }
  }

  @Test func aFileThatEndsAnywhereIsAnErrorAsForLibvips() throws {
    for isInterlaced in [false, true] {
      var frame = Self.frame(20, 15)
      frame.isInterlaced = isInterlaced
      let file = GIFWriter(width: 20, height: 15, palette: Self.palette(256), frames: [frame]).file
      // libvips 8.14.1 aborts on an empty file.
      for length in 1..<file.count - 1 {
        #expect(throws: CodecError.self, "\(length)") { try SourceRows(libvips: Array(file.prefix(length)), .gif) }
        let error = #expect(throws: CodecError.self, "\(length)") { try Self.rows(Array(file.prefix(length))) }
        #expect(length <= 810 || error?.kind == "truncated", "\(length)")
      }
      #expect(try !Self.rows(file.dropLast()).planes.isEmpty)
    }
  }

  @Test func damagedFilesAreJudgedAsByLibvips() throws {
    var random = SplitMix(state: 3)
    var judged = SourceRows.Judged()
    for round in 0..<200 {
      var frame = Self.frame(40, 30, codeSize: 2 + round % 7, detail: round % 100)
      frame.isInterlaced = round % 3 == 0
      if round % 5 == 0 { frame.transparent = 1 }
      (frame.left, frame.top) = round % 4 == 0 ? (3, 4) : (0, 0)
      var file = GIFWriter(
        width: 40 + frame.left, height: 30 + frame.top, palette: Self.palette(256), frames: [frame]
      ).file
      random.damage(&file, in: (round % 2 == 0 ? 0 : 782)..<file.count, places: 1 + round % 4)
      guard let probe = try? probe(.memory(file)), probe.storedSize.pixelCount < 40_000 else { continue }
      judge(file, "\(round)", &judged)
    }
    let counts = judged.counts
    #expect(counts.read > 25 && counts.refused > 25 && counts.handedOver < 25, "\(counts)")
  }
  /// Expects that a file is read as by libvips, or refused by both, or handed over.
  private func judge(_ file: [UInt8], _ name: String, _ judged: inout SourceRows.Judged) {
    let theirs = try? SourceRows(libvips: file, .gif)
    judged.judge(file, theirs, "\(name)", Self.rows) { Self.seen($0) == Self.seen(theirs) }
  }

  @Test(.withTheCorpus) func theCorpusIsReadAsByLibvips() throws {
    var judged = SourceRows.Judged()
    for (name, bytes) in try SharedCorpus.files(.gif) { judge(bytes, name, &judged) }
    #expect(judged.counts.read > 20)
  }

  @Test func aFileAndMemoryGiveTheSameInBandsOfBoundedSize() throws {
    let bytes = GIFWriter(width: 700, height: 300, palette: Self.palette(256), frames: [Self.frame(700, 300)]).file
    let rows = try ByteSource.withFile(bytes) { file, _ in
      try SourceRows(try GIFRowSource(file, probe: try probe(file)))
    }
    #expect(rows == (try Self.rows(bytes)))
    #expect(rows.longestBand < 50)
  }

  @Test func whatWasNotProbedIsRefused() throws {
    let bytes = GIFWriter(width: 40, height: 30, palette: Self.palette(256), frames: [Self.frame(40, 30)]).file
    var wrong = try probe(.memory(bytes))
    wrong.storedSize = PixelSize(39, 30)
    #expect(throws: CodecError.self) { try GIFRowSource(.memory(bytes), probe: wrong) }
    #expect(GIFRowSource.peakBytes(of: wrong) < 1 << 20)
  }
}
