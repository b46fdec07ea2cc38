@testable import CodecTestSupport
@testable import ImageCodec
@testable import RAWPreviews

/// RAW files as the codec sees them: their headers, and which preview is read in their place.
@Suite(.timeLimit(.minutes(5))) struct RAWHeaderTests {

  @Test(arguments: RAWSample.kinds) func theHeaderIsThatOfTheLargestPreview(_ kind: String) throws {
    let file = try RAWPictures.file(kind, orientation: 6)
    let probed = try probe(.memory(file))
    #expect(probed.format == .raw && probed.isRAW && probed.orientation == 6)
    let hasFull = !["ORF", "ORF-OLD", "MRW", "ERF"].contains(kind)
    #expect(probed.storedSize == (hasFull ? RAWPictures.full : RAWPictures.preview))
    #expect(probed.size == PixelSize(probed.storedSize.height, probed.storedSize.width))
  }

  @Test(arguments: RAWSample.kinds) func aStreamTellsWhatTheWholeFileTells(_ kind: String) throws {
    let file = try RAWPictures.file(kind, sensorLength: 200_000)
    let whole = try probe(.memory(file))
    for length in [997, 65_536] {
      switch HeaderProber.status(of: file, by: length) {
      case .probed(let probed): #expect(probed == whole)
      // Some directories point backwards.
      case .unclear: break
      case let other: Issue.record("\(kind) by \(length): \(other)")
      }
    }
  }

  @Test func theSmallestPreviewThatCoversTheBoxIsRead() throws {
    let body = ByteSource.memory(try RAWPictures.file("ARW"))
    let probed = try probe(body)
    for (sides, fit, expected) in [
      ([150], Fit.contain, RAWPictures.thumbnail), ([151], .contain, RAWPictures.preview),
      ([400], .cover, RAWPictures.preview), ([601], .contain, RAWPictures.full), ([4000], .contain, RAWPictures.full),
      ([80, 500], .contain, RAWPictures.preview),
    ] {
      let variants = sides.map { Variant(size: PixelSize($0, $0), fit: fit) }
      #expect(try RAWPreview(variants, of: probed, in: body).probe.storedSize == expected, "\(sides)")
    }
  }

  @Test func aThumbnailOfAnotherAspectRatioIsPassedOver() throws {
    var previews = try RAWPictures.previews()
    previews.thumbnail = try TestPicture.quarters(160, 120).encoded("jpegsave_buffer")
    let body = ByteSource.memory(RAWSample("ARW", previews).bytes)
    let preview = try RAWPreview([Variant(size: PixelSize(80, 80))], of: try probe(body), in: body)
    #expect(preview.probe.storedSize == RAWPictures.preview)
  }

  @Test(arguments: [1, 6]) func bordersThatTheFileTellsOfAreCutOff(_ orientation: Int) async throws {
    var previews = try RAWPictures.previews()
    let letterbox = TestPicture(160, 120) { x, y in
      (7..<113).contains(y) ? TestPicture.quarter(x, y, 160, 120) : [0, 0, 0]
    }
    previews.thumbnail = try letterbox.encoded("jpegsave_buffer", "Q=95,strip=true")
    let file = RAWSample("CR2", previews, orientation: orientation).bytes
    let variant = Variant(size: PixelSize(90, 90), fit: .contain, format: .png)
    let body = ByteSource.memory(file)
    let preview = try RAWPreview([variant], of: try probe(body), in: body)
    #expect(preview.probe.storedSize == PixelSize(160, 120))
    let thumbnail = try await TestRender.one(file, variant)
    #expect(thumbnail.size == (orientation == 1 ? PixelSize(90, 60) : PixelSize(60, 90)))
    let pixels = try DecodedPixels(thumbnail.data)
    let (red, yellow) = orientation == 1 ? ((1, 1), (88, 58)) : ((58, 1), (1, 88))
    #expect(pixels.isNear(TestPicture.red, red.0, red.1, tolerance: 40))
    #expect(pixels.isNear(TestPicture.yellow, yellow.0, yellow.1, tolerance: 40))
  }

  @Test func aPreviewThatIsBrokenGivesWayToAnother() throws {
    let sample = RAWSample("ARW", try RAWPictures.previews())
    let variant = Variant(size: PixelSize(400, 400), fit: .contain)
    let probed = try probe(.memory(sample.bytes))
    var broken = sample.bytes
    // The frame's marker of the preview of medium size, which is the first in the file.
    let frame = try #require(sample.images[0].first { broken[$0] == 0xFF && broken[$0 + 1] == 0xC0 })
    broken[frame + 1] = 0xD9
    let preview = try RAWPreview([variant], of: probed, in: .memory(broken))
    #expect(preview.probe.storedSize == RAWPictures.full)
  }

  @Test(arguments: RAWSample.kinds) func theThumbnailIsUpright(_ kind: String) async throws {
    let file = try RAWPictures.file(kind, orientation: 6)
    let variant = Variant(size: PixelSize(120, 120), fit: .contain)
    let thumbnail = try await TestRender.one(file, variant)
    #expect(thumbnail.size == PixelSize(80, 120) && thumbnail.source.format == .raw)
    // Turned clockwise, the lower left quarter comes to the upper left.
    let pixels = try DecodedPixels(thumbnail.data)
    #expect(pixels.isNear(TestPicture.blue, 10, 10, tolerance: 12))
    #expect(pixels.isNear(TestPicture.red, 70, 10, tolerance: 12))
    #expect(pixels.isNear(TestPicture.green, 70, 110, tolerance: 12))
  }

  @Test func withoutAPreviewTheErrorSaysSo() throws {
    var tiff = TIFFWriter()
    tiff.write(chain: [[(0x010F, .text("NIKON CORPORATION")), (0x0106, .short([32803]))]])
    #expect(throws: CodecError.noPreview(in: "Nikon NEF")) { try probe(.memory(tiff.bytes)) }
  }

  @Test(arguments: ["NEF", "CR3"]) func aFileThatEndsBeforeItsPreviewsIsTruncated(_ kind: String) throws {
    let sample = RAWSample(kind, try RAWPictures.previews())
    let start = try #require(sample.images.first).lowerBound
    let cut = Array(sample.bytes[..<(start + 4)])
    let error = #expect(throws: CodecError.self) { try probe(.memory(cut)) }
    if kind == "NEF" { #expect(error == .truncated(detail: "before its previews")) }
  }

  @Test func anOrdinaryTIFFOfACamerasMakerStaysATIFF() throws {
    var tiff = TIFFWriter()
    let samples = [UInt8](repeating: 90, count: 12)
    func page(_ name: String) -> TIFFWriter.Directory {
      [
        (0x0100, .short([4])), (0x0101, .short([3])), (0x0102, .short([8])), (0x0103, .short([1])),
        (0x0106, .short([1])), (0x0111, .start(of: name)), (0x0115, .short([1])), (0x0116, .short([3])),
        (0x0117, .length(of: name)),
      ]
    }
    tiff.write(chain: [
      page("a") + [(0x010F, .text("NIKON CORPORATION")), (0x014A, .directories([page("b")]))], page("c"),
    ])
    for name in ["a", "b", "c"] { tiff.add(block: name, samples) }
    let probed = try probe(.memory(tiff.bytes))
    #expect(probed.format == .tiff && probed.storedSize == PixelSize(4, 3) && probed.frameCount == 2)
  }
}
