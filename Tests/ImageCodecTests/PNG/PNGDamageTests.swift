@testable import CodecTestSupport
@testable import ImageCodec

/// What our PNG decoder refuses, and that it is what libvips refuses.
@Suite(.timeLimit(.minutes(5))) struct PNGDamageTests {
  private enum Verdict: Equatable {
    case same
    case bothRefuse
    case handedOver
    case onlyOurs
    case onlyTheirs
    case otherPixels
  }

  private func verdict(_ file: [UInt8]) -> Verdict {
    let ours = Result { () throws(CodecError) in try PNGRows(.memory(file)) }
    if case .failure(.handedOver) = ours { return .handedOver }
    let theirs = Result { try PNGRows(libvips: file) }
    return switch (ours, theirs) {
    case (.success(let ours), .success(let theirs)): ours == theirs ? .same : .otherPixels
    case (.failure, .failure): .bothRefuse
    case (.success, .failure): .onlyOurs
    case (.failure, .success): .onlyTheirs
    }
  }

  @Test func everyTruncatedFileIsRefusedUnlessLibpngHasAllRows() throws {
    let file = try TestPicture.texture(12, 9).encoded("pngsave_buffer", "compression=9")
    for length in 33..<file.count {
      let part = Array(file.prefix(length))
      let verdict = verdict(part)
      #expect(verdict == .bothRefuse || verdict == .same && length >= file.count - 12, "\(length): \(verdict)")
      do throws(CodecError) { _ = try PNGRows(.memory(part)) } catch { #expect(error.kind == "truncated", "\(length)") }
    }
  }

  /// In the gate every fifth bit, which is each of a byte's in turn.
  private static let step = Thoroughness.isFull ? 1 : 5

  @Test func flippedBitsNeitherCrashNorGiveMoreRows() throws {
    var counts: [String: Int] = [:]
    for (bands, options) in [(3, "compression=9"), (1, "compression=1,filter=paeth"), (4, "compression=0")] {
      let file = try TestPicture.texture(10, 8, bands: bands).encoded("pngsave_buffer", options)
      for bit in stride(from: 64, to: file.count * 8, by: Self.step) {
        var copy = file
        copy[bit / 8] ^= 1 << UInt8(bit % 8)
        let verdict = verdict(copy)
        counts["\(verdict)", default: 0] += 1
        #expect(
          verdict != .otherPixels && verdict != .onlyOurs && verdict != .onlyTheirs,
          "\(options), bit \(bit): \(verdict)")
      }
    }
    print("PNG, flipped bits: \(counts)")
  }

  /// As before, but with the CRCs put right, so that inflating sees the damage.
  @Test func flippedBitsUnderValidChecksumsAreJudgedAsByLibpng() throws {
    var counts: [String: Int] = [:]
    for (bands, options) in [(3, "compression=9"), (1, "compression=1,filter=paeth"), (4, "compression=0")] {
      let file = try TestPicture.texture(10, 8, bands: bands).encoded("pngsave_buffer", options)
      let parsed = TestPNG.parse(file)
      for index in parsed.indices where parsed[index].type == "IDAT" || parsed[index].type == "IHDR" {
        for bit in stride(from: 0, to: parsed[index].data.count * 8, by: Self.step) {
          var chunks = parsed
          chunks[index].data[bit / 8] ^= 1 << UInt8(bit % 8)
          let copy = TestPNG.signature + chunks.flatMap { TestPNG.chunk($0.type, $0.data) }
          // A header of another size would have libvips make gigabytes of it.
          guard let probe = try? probe(.memory(copy)), probe.storedSize.pixelCount < 1 << 20 else { continue }
          let verdict = verdict(copy)
          counts["\(verdict)", default: 0] += 1
        }
      }
    }
    print("PNG, flipped bits under valid CRCs: \(counts)")
    // zlib refuses incomplete Huffman codes even if no invalid one occurs.
    #expect(counts["onlyOurs", default: 0] <= 3)
    #expect(counts["onlyTheirs"] == nil && counts["otherPixels"] == nil)
  }

  private static func png() -> TestPNG { TestPNG(4, 4, colour: 2, depth: 8, filters: [0]) }

  private static func indexed(_ depth: Int, palette: [UInt8]?) -> TestPNG {
    var png = TestPNG(4, 4, colour: 3, depth: depth, filters: [0])
    png.chunks = palette.map { [("PLTE", $0)] } ?? []
    return png
  }

  private static func with(_ chunks: TestPNG.Chunk...) -> TestPNG { changed { $0.chunks = chunks } }
  private static func ending(_ chunks: TestPNG.Chunk...) -> TestPNG { changed { $0.ending = chunks } }

  private static func changed(_ change: (inout TestPNG) -> Void) -> TestPNG {
    var png = png()
    change(&png)
    return png
  }

  private func expect(_ expected: Verdict, _ name: String, _ png: TestPNG) {
    #expect(verdict(png.bytes()) == expected, "\(name)")
  }

  @Test func chunksOutOfPlaceAreJudgedAsByLibpng() {
    let palette = TestPNG.palette(4)
    expect(.bothRefuse, "two palettes", Self.with(("PLTE", palette), ("PLTE", palette)))
    expect(.bothRefuse, "an unknown critical chunk", Self.with(("ABCD", [1])))
    expect(.same, "an unknown chunk", Self.with(("abCd", [1])))
    expect(.bothRefuse, "no letters", Self.with(("ab1d", [1])))
    expect(.bothRefuse, "a second header", Self.with(Self.png().header))
    expect(.bothRefuse, "an early end", Self.with(("IEND", [])))
    expect(.same, "a palette in an RGB image", Self.with(("PLTE", palette)))
    expect(.same, "an invalid palette in an RGB image", Self.with(("PLTE", [1, 2])))
    expect(.bothRefuse, "a chunk between pixels", Self.with(("IDAT", [0x78]), ("tEXt", [65, 0, 65])))
    expect(.same, "chunks behind the pixels", Self.ending(("tEXt", [65, 0, 65]), ("IEND", [])))
    expect(.same, "pixels behind the pixels", Self.ending(("IDAT", [1, 2, 3]), ("IEND", [])))
    expect(.same, "no end", Self.ending())
    var animation = Self.with(("acTL", TestPNG.long(1) + TestPNG.long(0)))
    animation.ending = [("fdAT", [0, 0, 0, 1, 2]), ("IEND", [])]
    expect(.same, "an animation", animation)
  }

  @Test func palettesAreJudgedAsByLibpng() {
    expect(.bothRefuse, "none", Self.indexed(8, palette: nil))
    expect(.bothRefuse, "an empty one", Self.indexed(8, palette: []))
    expect(.bothRefuse, "four bytes", Self.indexed(8, palette: [1, 2, 3, 4]))
    expect(.bothRefuse, "too many for any depth", Self.indexed(8, palette: [UInt8](repeating: 1, count: 771)))
    expect(.same, "too many for its depth", Self.indexed(2, palette: TestPNG.palette(9)))
    expect(.same, "fewer than its indices", Self.indexed(8, palette: TestPNG.palette(1)))
    var gray = TestPNG(4, 4, colour: 0, depth: 2, filters: [0])
    gray.chunks = [("PLTE", TestPNG.palette(4))]
    expect(.same, "a gray image", gray)
  }

  @Test func headersAndRowsAreJudgedAsByLibpng() {
    expect(.bothRefuse, "an invalid depth", Self.changed { $0.depth = 4 })
    expect(.bothRefuse, "an invalid interlace", Self.changed { $0.interlace = 2 })
    expect(.bothRefuse, "an unknown filter", Self.changed { $0.stored[0] = 5 })
    expect(.bothRefuse, "an unknown filter in the last row", Self.changed { $0.stored[39] = 255 })
    expect(.bothRefuse, "a missing row", Self.changed { $0.stored.removeLast(13) })
    expect(.bothRefuse, "a missing byte", Self.changed { $0.stored.removeLast() })
    expect(.same, "a byte too many", Self.changed { $0.stored.append(1) })
    expect(.same, "many bytes too many", Self.changed { $0.stored += [UInt8](repeating: 7, count: 100_000) })
  }

  @Test func streamsAreJudgedAsByLibpng() throws {
    let png = Self.png()
    let stream = TestPNG.zlib(png.stored)
    let cases: [(String, Verdict, [UInt8])] = [
      ("whole", .same, stream), ("a wrong checksum", .same, Array(stream.dropLast()) + [stream.last.map { ~$0 } ?? 0]),
      ("no checksum", .bothRefuse, Array(stream.dropLast(4))),
      ("half a checksum", .bothRefuse, Array(stream.dropLast(2))),
      ("extra bytes", .same, stream + [1, 2, 3]), ("no stream", .bothRefuse, []), ("one byte", .bothRefuse, [0x78]),
      ("a window of 64 KiB", .bothRefuse, [0x88, 0x1C] + stream.dropFirst(2)),
      ("a dictionary", .bothRefuse, [0x78, 0x20] + stream.dropFirst(2)),
      ("another method", .bothRefuse, [0x77, 0x09] + stream.dropFirst(2)),
      ("a wrong header", .bothRefuse, [0x78, 0x02] + stream.dropFirst(2)),
    ]
    for (name, expected, stream) in cases { #expect(verdict(png.bytes(stream: stream)) == expected, "\(name)") }
    var cut = png
    for pieces in 1...stream.count {
      cut.pieces = [pieces]
      #expect(verdict(cut.bytes(stream: stream)) == .same, "\(pieces)")
      // libpng reads no more than one piece behind the last row.
      let verdict = verdict(cut.bytes(stream: Array(stream.dropLast(2))))
      #expect(verdict == .same || verdict == .bothRefuse, "\(pieces): \(verdict)")
    }
  }

  /// A match whose distance is invalid: ISA-L counts its 258 bytes, which nobody has written.
  @Test func whatDamageLeavesOutIsNotTakenForPixels() {
    let width = 300
    var png = TestPNG(width, 1, colour: 0, depth: 8, filters: [0])
    for literals in [1, 43, 44, 100, 300] {
      // Deflate's fixed codes, the first bit of each in front: a last block, zeros, a length of 258, distance code 30.
      let codes = ["1", "10"] + Array(repeating: "00110000", count: literals) + ["11000101", "11110"]
      var (bytes, count): ([UInt8], Int) = ([], 0)
      for bit in codes.joined() {
        if count % 8 == 0 { bytes.append(0) }
        if bit == "1" { bytes[count / 8] |= 1 << UInt8(count % 8) }
        count += 1
      }
      let stream = [0x78, 0x01] + bytes + [UInt8](repeating: 0, count: 8)
      #expect(verdict(png.bytes(stream: stream)) == .bothRefuse, "\(literals) bytes")
      png.pieces = [literals]
    }
  }

  // MARK: Real files

  private static let folders = (["TestImages"] + (Thoroughness.isFull ? ["../shared/corpus"] : []))
    .map { URL(fileURLWithPath: $0).standardizedFileURL }
  private static let isPresent = folders.contains { FileManager.default.fileExists(atPath: $0.path) }

  @Test(.enabled(if: isPresent, "TestImages are absent"))
  func realFilesAreJudgedAsByLibpng() throws {
    var counts: [String: Int] = [:]
    for folder in Self.folders {
      for case let path as String in FileManager.default.enumerator(atPath: folder.path) ?? .init() {
        guard let data = try? Data(contentsOf: folder.appending(path: path)), data.starts(with: TestPNG.signature),
          let probe = try? probe(.memory(Array(data))), probe.storedSize.pixelCount < 600_000
        else { continue }
        let verdict = verdict(Array(data))
        counts["\(verdict)", default: 0] += 1
        #expect([.same, .bothRefuse, .handedOver].contains(verdict), "\(path): \(verdict)")
      }
    }
    print("PNG, real files: \(counts)")
  }
}
