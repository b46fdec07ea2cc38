@testable import CodecTestSupport
@testable import ImageCodec

/// The preview in a JPEG's EXIF data: 160×120 in a picture of 640×480.
@Suite struct EmbeddedPreviewTests {
  private let bytes: [UInt8]
  private let stranger: [UInt8]

  init() throws {
    bytes = [UInt8](try TestImages.bytes("formats/jpeg-exif-thumbnail.jpg"))
    stranger = [UInt8](try TestImages.bytes("formats/jpeg-exif-thumbnail-of-another-picture.jpg"))
  }

  @Test func isFoundWithItsPlaceAndSize() throws {
    let preview = try #require(try probe(.memory(bytes)).preview)
    #expect(preview.size == PixelSize(160, 120))
    let inner = Array(bytes[preview.range])
    #expect(inner.starts(with: [0xFF, 0xD8]) && inner.suffix(2) == [0xFF, 0xD9])
    #expect(try probe(.memory(inner)).size == PixelSize(160, 120))
    #expect(preview.neededRanges.upperBound > preview.range.upperBound + EmbeddedPreview.comparedBytes)
    for name in ["jpeg-420.jpg", "orientation-6.jpg", "jpeg-progressive.jpg", "png-rgb.png"] {
      #expect(try probe(.memory([UInt8](TestImages.bytes("formats/\(name)")))).preview == nil)
    }
  }

  @Test func isNotUsedWhereAspectSizeOrOrientationDiffer() throws {
    var picture = ImageProbe(format: .jpeg, storedSize: PixelSize(6000, 4000))
    func fits(_ width: Int, _ height: Int, orientation: Int? = nil) -> Bool {
      EmbeddedPreview(range: 0..<9, size: PixelSize(width, height), orientation: orientation).fits(picture)
    }
    // Letterboxed or cropped to 4:3, as many cameras do it.
    #expect(!fits(160, 120) && !fits(160, 105) && fits(160, 107) && fits(159, 106) && fits(256, 170))
    #expect(!fits(107, 160) && !fits(6000, 4000))
    #expect(fits(160, 107, orientation: 1) && !fits(160, 107, orientation: 6))
    picture.orientation = 6
    #expect(fits(160, 107) && fits(160, 107, orientation: 6))
  }

  @Test func servesWhatItIsLargeEnoughFor() {
    var picture = ImageProbe(format: .jpeg, storedSize: PixelSize(640, 480))
    let preview = EmbeddedPreview(range: 0..<9, size: PixelSize(160, 120))
    func serves(_ width: Int, _ height: Int, _ fit: Fit = .contain, _ scaling: Scaling = .fast) -> Bool {
      preview.serves([Variant(size: PixelSize(width, height), fit: fit, scaling: scaling)], of: picture)
    }
    #expect(serves(160, 120) && serves(160, 1000) && !serves(161, 1000) && serves(120, 120, .cover))
    #expect(!serves(121, 121, .cover) && serves(80, 60, .fill, .best) && !serves(81, 60, .fill, .best))
    picture.orientation = 6
    #expect(serves(120, 160) && !serves(160, 160, .fill))
    #expect(!preview.serves([], of: picture))
  }

  @Test func isShownWhereThePictureIsAlike() throws {
    let variants = [Variant(size: PixelSize(120, 120), fit: .contain), Variant(size: PixelSize(40, 30))]
    let read = try probe(.memory(bytes))
    let preview = try #require(PreviewPlan(variants, probe: read, memoryBudget: 64 << 20))
    let made = try #require(Downsampler.render(.memory(bytes), preview: preview))
    #expect(try made.map { try $0.result.get().size } == [PixelSize(120, 90), PixelSize(40, 30)])
    #expect(try made[0].result.get().source.size == PixelSize(640, 480))
    // All it looks at is the beginning.
    let head = ByteSource.memory(Array(bytes.prefix(preview.preview.neededRanges.upperBound)))
    #expect(Downsampler.render(head, preview: preview) != nil)
  }

  @Test func isNotShownWhereThePictureIsAnother() throws {
    let variants = [Variant(size: PixelSize(120, 120), fit: .contain)]
    let read = try probe(.memory(stranger))
    let preview = try #require(PreviewPlan(variants, probe: read, memoryBudget: 64 << 20))
    #expect(Downsampler.render(.memory(stranger), preview: preview) == nil)
    // Nor where there is nothing to compare it with.
    let bare = ByteSource.memory(Array(bytes.prefix(preview.preview.range.upperBound)))
    #expect(Downsampler.render(bare, preview: preview) == nil)
  }

  @Test func aSkyWithoutDetailProvesNothing() throws {
    let read = try probe(.memory(bytes))
    let preview = try #require(read.preview)
    let flat = try TestPicture(640, 480) { _, _ in [90, 140, 220, 255] }.encoded("jpegsave_buffer")
    let small = try TestPicture(160, 120) { _, _ in [90, 140, 220, 255] }.encoded("jpegsave_buffer", "strip=true")
    // The flat picture with the flat preview in front: its EXIF is not asked, only what is said of it here.
    var described = try probe(.memory(flat))
    described.preview = EmbeddedPreview(
      range: flat.count..<flat.count + small.count, size: preview.size, neededRanges: RangeSet([0..<flat.count]))
    let variants = [Variant(size: PixelSize(40, 30))]
    let flatPreview = try #require(PreviewPlan(variants, probe: described, memoryBudget: 64 << 20))
    #expect(Downsampler.render(.memory(flat + small), preview: flatPreview) == nil)
  }

  @Test func hostileExifNeverTraps() throws {
    let head = Array(bytes.prefix(6000))
    for _ in 0..<500 {
      var changed = head
      for _ in 0..<6 {
        changed[Int.random(in: 2..<400)] = [0, 1, 0x7F, 0xFF, UInt8.random(in: 0...255)].randomElement() ?? 0
      }
      guard let preview = (try? probe(.memory(changed)))?.preview else { continue }
      #expect(preview.range.upperBound <= changed.count + 65_536 && preview.size.width > 0)
    }
  }
}
