@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5))) struct TIFFRowSourceTests {
  private static func rows(_ bytes: [UInt8]) throws(CodecError) -> SourceRows {
    let body = ByteSource.memory(bytes)
    return try SourceRows(try TIFFRowSource(body, probe: try probe(body)))
  }

  /// A TIFF of noise in 8 or 16 bits.
  private static func file(_ width: Int, _ height: Int, bands: Int, bits: Int, _ options: String) throws -> [UInt8] {
    try TestPicture.texture(width, height, bands: bands).encoded("tiffsave_buffer", options, bits: bits)
  }

  private static let structures = [
    "", "tile-height=16", "tile-height=75", "tile-height=1000", "tile=true,tile-width=32,tile-height=16",
    "tile=true,tile-width=256,tile-height=256", "tile=true,tile-width=64,tile-height=128,bigtiff=true",
    "miniswhite=true",
  ]
  private static let compressions = [
    "none", "lzw", "deflate", "packbits", "zstd", "lzw,predictor=horizontal", "deflate,predictor=horizontal",
  ]

  @Test(arguments: [8, 16], 1...4) func everyKindEqualsLibvips(_ bits: Int, _ bands: Int) throws {
    for structure in Self.structures where !structure.contains("miniswhite") || bands < 3 {
      for compression in Self.compressions {
        let options = ["compression=\(compression)", structure].filter { !$0.isEmpty }.joined(separator: ",")
        let file = try Self.file(101, 75, bands: bands, bits: bits, options)
        #expect(try Self.rows(file) == SourceRows(libvips: file, .tiff), "\(bits) \(bands) \(options)")
      }
    }
  }

  @Test(arguments: ["Q=75", "Q=95"]) func tilesAndStripsThatAreJPEGsEqualLibvips(_ quality: String) throws {
    for structure in Self.structures where !structure.contains("miniswhite") && structure != "tile-height=75" {
      for bands in [1, 3] {
        let options = ["compression=jpeg,\(quality)", structure].filter { !$0.isEmpty }.joined(separator: ",")
        let file = try Self.file(101, 75, bands: bands, bits: 8, options)
        #expect(try Self.rows(file) == SourceRows(libvips: file, .tiff), "\(bands) \(options)")
      }
    }
  }

  /// A TIFF of uncompressed 8-bit samples with these tags besides the necessary ones.
  private static func handmade(
    _ pixels: [UInt8], width: Int, samples: Int = 1, photometric: Int, palette: [UInt16]? = nil, extra: Int? = nil
  ) -> [UInt8] {
    func word(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8 & 255)] }
    func long(_ number: Int) -> [UInt8] { word(number) + word(number >> 16) }
    var blobs = pixels
    var entries: [(tag: Int, type: Int, count: Int, value: Int)] = [
      (256, 4, 1, width), (257, 4, 1, pixels.count / width / samples), (259, 3, 1, 1), (262, 3, 1, photometric),
      (273, 4, 1, 8), (277, 3, 1, samples), (279, 4, 1, pixels.count),
    ]
    if samples < 3 {
      entries.append((258, 3, samples, samples == 1 ? 8 : 8 | 8 << 16))
    } else {
      entries.append((258, 3, samples, 8 + blobs.count))
      for _ in 0..<samples { blobs += word(8) }
    }
    if let palette {
      entries.append((320, 3, palette.count, 8 + blobs.count))
      blobs += palette.flatMap { word(Int($0)) }
    }
    if let extra { entries.append((338, 3, 1, extra)) }
    let directory = entries.sorted { $0.tag < $1.tag }.flatMap {
      word($0.tag) + word($0.type) + long($0.count) + long($0.value)
    }
    return Array("II".utf8) + word(42) + long(8 + blobs.count) + blobs + word(entries.count) + directory + long(0)
  }

  @Test func palettesAreReadAsByLibvips() throws {
    let pixels = (0..<1200).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let colours = (0..<768).map { UInt16(truncatingIfNeeded: $0 * 85) }
    let grays = (0..<768).map { UInt16($0 % 256) * 257 }
    for palette in [colours, grays, colours.map { $0 & 255 }, grays.map { $0 & 255 }] {
      let file = Self.handmade(pixels, width: 40, photometric: 3, palette: palette)
      #expect(try Self.rows(file) == SourceRows(libvips: file, .tiff))
    }
  }

  @Test func alphaIsReadAsByLibvips() throws {
    let pixels = (0..<4800).map { UInt8(truncatingIfNeeded: $0 * 11) }
    for extra in [nil, 2] as [Int?] {
      let file = Self.handmade(pixels, width: 40, samples: 4, photometric: 2, extra: extra)
      #expect(try Self.rows(file) == SourceRows(libvips: file, .tiff))
    }
    // An unspecified sample is dropped, colours multiplied by alpha are divided by it.
    let opaque = try Self.rows(Self.handmade(pixels, width: 40, samples: 4, photometric: 2, extra: 0))
    #expect(opaque.layout.planes[0].channels == 3 && !opaque.layout.hasAlpha)
    let half: [UInt8] = (0..<1200).flatMap { _ in [50, 25, 128, 128] as [UInt8] }
    let divided = try Self.rows(Self.handmade(half, width: 40, samples: 4, photometric: 2, extra: 1))
    #expect(divided.layout.hasAlpha && Array(divided.withAlpha.prefix(4)) == [100, 50, 255, 128])
  }

  @Test func whatIsOddIsHandedOver() throws {
    let pixels = [UInt8](repeating: 7, count: 40 * 5 * 6)
    for (samples, photometric) in [(3, 8), (3, 1), (5, 2)] {
      let file = Self.handmade(pixels, width: 40, samples: samples, photometric: photometric)
      #expect(#expect(throws: CodecError.self) { try Self.rows(file) }?.kind == "handedOver")
    }
    for options in ["bitdepth=1", "bitdepth=4"] {
      let file = try Self.file(40, 30, bands: 1, bits: 8, options)
      #expect(throws: CodecError.self) { try Self.rows(file) }
    }
  }

  @Test func aFileThatEndsAnywhereIsRefusedWhereLibvipsRefusesIt() throws {
    for options in ["compression=none", "compression=lzw,tile-height=4", "compression=deflate,tile=true"] {
      let file = try Self.file(40, 30, bands: 1, bits: 8, options)
      for length in stride(from: 1, to: file.count, by: 7) {
        let part = Array(file.prefix(length))
        let theirs = try? SourceRows(libvips: part, .tiff)
        #expect((try? Self.rows(part)) == theirs, "\(options) \(length)")
      }
    }
  }

  @Test func pixelsThatAreMissingAreTruncation() throws {
    let pixels = [UInt8](repeating: 7, count: 400)
    var file = Self.handmade(pixels, width: 40, photometric: 1)
    // The strip begins shortly before the end of the file.
    let tag = try #require(file.indices.dropLast(3).last { Array(file[$0..<$0 + 4]) == [17, 1, 4, 0] })
    file[tag + 8...tag + 9] = [UInt8((file.count - 100) & 255), UInt8((file.count - 100) >> 8)]
    #expect(throws: CodecError.truncated(detail: "strip 0")) { try Self.rows(file) }
  }

  @Test func damagedFilesAreJudgedAsByLibvips() throws {
    var random = SplitMix(state: 11)
    var judged = SourceRows.Judged()
    for round in 0..<400 {
      let structure = Self.structures[round % Self.structures.count]
      let compression = Self.compressions[round % Self.compressions.count]
      let options = ["compression=\(compression)", structure].filter { !$0.isEmpty }.joined(separator: ",")
      var file = try Self.file(60, 40, bands: structure.contains("white") ? 1 : 1 + round % 4, bits: 8, options)
      random.damage(&file, places: 1 + round % 3)
      guard let probe = try? probe(.memory(file)), probe.storedSize.pixelCount < 1_000_000 else { continue }
      let theirs = try? SourceRows(libvips: file, .tiff)
      judged.judge(file, theirs, "\(round)", Self.rows) { $0 == theirs }
    }
    #expect(judged.counts.read > 50 && judged.counts.handedOver < 200, "\(judged.counts)")
  }

  @Test(.withTheCorpus) func theCorpusIsReadAsByLibvips() throws {
    var judged = SourceRows.Judged()
    for (name, bytes) in try SharedCorpus.files(.tiff) {
      let theirs = try? SourceRows(libvips: bytes, .tiff)
      // libvips shows chroma as colours, and multiplied alpha as it is: other programs are asked (Tests/Opinions).
      let isOdd = ["ycbcr", "hpredict", "f57321e11d92"].contains { name.contains($0) }
      judged.judge(bytes, theirs, name, Self.rows) { isOdd || $0 == theirs || $0.layout != theirs?.layout }
    }
    #expect(judged.counts.read > 10)
  }

  @Test func bandsAreBounded() throws {
    let file = try Self.file(300, 900, bands: 3, bits: 8, "tile-height=900")
    #expect(try Self.rows(file).longestBand * 900 <= 131_072)
  }
}
