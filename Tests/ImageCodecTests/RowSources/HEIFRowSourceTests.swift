import HEIFContainer

@testable import CodecTestSupport
@testable import ImageCodec

/// HEIC and AVIF read item by item, beside libheif.
@Suite(.timeLimit(.minutes(5))) struct HEIFRowSourceTests {
  private static let files = [
    "heic.heic", "heic-alpha.heic", "heic-grid.heic", "avif.avif", "avif-alpha.avif",
  ]

  private static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try TestImages.bytes("formats/\(name)"))
  }

  /// A thumbnail by the plan of our own reader, or of libheif.
  private static func pixels(_ bytes: [UInt8], _ variant: Variant, byLibheif: Bool) throws -> DecodedPixels {
    let plan = try DecodePlan.make(bytes, [variant], mayReadCoefficients: !byLibheif)
    #expect((plan.probe.heif == nil) == byLibheif)
    return try DecodedPixels(bytes, variant, plan: plan)
  }

  private static func expectAlike(_ bytes: [UInt8], _ what: String, tolerance: Double = 2) throws {
    let variant = Variant(size: PixelSize(60, 60), fit: .contain, format: .png)
    let (ours, theirs) = (try pixels(bytes, variant, byLibheif: false), try pixels(bytes, variant, byLibheif: true))
    #expect(ours.size == theirs.size, "\(what)")
    let difference = ours.meanDifference(from: theirs)
    #expect(difference <= tolerance, "\(what): \(difference)")
  }

  @Test(arguments: files) func thumbnailsLookAsByLibheif(_ name: String) throws {
    try Self.expectAlike(try Self.bytes(name), name)
  }

  /// Depths, chroma and codings that cameras and programs write.
  @Test(arguments: [
    "compression=av1,effort=0,subsample-mode=off",
    "compression=hevc,subsample-mode=off", "compression=hevc,bitdepth=10",
    "compression=av1,effort=0,lossless=true", "compression=av1,effort=0,bitdepth=12",
  ])
  func depthsAndChromaLookAsByLibheif(_ options: String) throws {
    let bits = options.contains("bitdepth") ? 16 : 8
    try Self.expectAlike(try TestPicture.quarters(151, 97).encoded("heifsave_buffer", options, bits: bits), options)
  }

  @Test func aGridIsReadByItsTilesAndTurned() throws {
    let probed = try probe(.memory(try Self.bytes("heic-grid.heic")))
    #expect(probed.size == PixelSize(160, 120) && probed.storedSize == PixelSize(120, 160))
    #expect(probed.orientation == 8 && probed.heif?.image.tiles.count == 6)
    #expect(probed.hasAlpha == false && probed.bitsPerSample == 8)
  }

  @Test func rowsAreTheSameFromAFileAndFromMemory() throws {
    for name in Self.files {
      let body = ByteSource.memory(try Self.bytes(name))
      let traits = try #require(try probe(body).heif)
      let inFile = try ByteSource.withFile(Self.bytes(name)) { file, _ in
        try SourceRows(try HEIFRowSource(file, traits))
      }
      #expect(try SourceRows(try HEIFRowSource(body, traits)) == inFile, "\(name)")
    }
  }

  @Test func aFileThatEndsBeforeItsLastItemIsAnError() throws {
    for name in Self.files {
      let bytes = try Self.bytes(name)
      let traits = try #require(try probe(.memory(bytes)).heif)
      let items = try HEIFFile(.memory(bytes)).items
      let ends = (traits.image.tiles + (traits.alpha?.tiles ?? [])).compactMap {
        items.item($0)?.ranges?.map(\.upperBound).max()
      }
      let needed = try #require(ends.max())
      for length in stride(from: 0, to: needed, by: max(1, needed / 200)) {
        #expect(throws: CodecError.self, "\(name), \(length) bytes") {
          _ = try SourceRows(try HEIFRowSource(.memory(Array(bytes[..<length])), traits))
        }
      }
    }
  }

  @Test func flippedBitsNeverTrapAndNeverChangeTheSize() throws {
    for name in Self.files {
      let bytes = try Self.bytes(name)
      var random = SplitMix(state: 11)
      for _ in 0..<100 {
        var changed = bytes
        changed[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        let body = ByteSource.memory(changed)
        guard let probed = try? probe(body), let traits = probed.heif else { continue }
        guard probed.storedSize.pixelCount < 1 << 20, let rows = try? SourceRows(try HEIFRowSource(body, traits)) else {
          continue
        }
        #expect(rows.layout.planes[0].size == probed.storedSize)
      }
    }
  }

  @Test func aStreamThatIsLargerThanItsItemSaysIsNotDecoded() throws {
    var traits = try #require(try probe(.memory(try Self.bytes("heic.heic"))).heif)
    let large = try TestPicture.quarters(640, 480).encoded("heifsave_buffer", "compression=hevc")
    let claimed = try #require(try probe(.memory(large)).heif)
    #expect(claimed.image.size == PixelSize(640, 480))
    // What was probed is what the decoder allows.
    traits.alpha = nil
    #expect(throws: CodecError.self) { _ = try SourceRows(try HEIFRowSource(.memory(large), traits)) }
  }

  @Test(.withTheCorpus)
  func filesOfTheCorpusLookAsByLibheif() throws {
    for format in [ImageFormat.heif, .avif] {
      for (name, bytes) in try SharedCorpus.files(format) where !name.hasPrefix("bad") {
        guard (try? probe(.memory(bytes)))?.heif != nil else { continue }
        try Self.expectAlike(bytes, name)
      }
    }
  }
}
