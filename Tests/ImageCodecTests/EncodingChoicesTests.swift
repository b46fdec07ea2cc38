@testable import CodecTestSupport
@testable import ImageCodec

/// What few ask for: other formats, effort, kept metadata, animations.
@Suite(.timeLimit(.minutes(5))) struct EncodingChoicesTests {
  private static let box = PixelSize(32, 32)

  private func variant(_ change: (inout Variant) -> Void) -> Variant {
    var variant = Variant(size: Self.box, fit: .contain)
    change(&variant)
    return variant
  }

  private func render(_ image: String, _ change: (inout Variant) -> Void) async throws -> Thumbnail {
    try await TestRender.one(Array(try TestImages.bytes(image)), variant(change))
  }

  /// Opens a file with libvips, all its frames.
  private func open(_ data: Data) throws -> LibvipsImage {
    try Codec.start()
    let body = ByteSource.memory(Array(data))
    let format = try probe(body).format
    let isAnimated = format == .gif || format == .webp
    return try BodyReader(body, cancellation: CancellationFlag())
      .load(format, VIPS_FAIL_ON_ERROR, option: isAnimated ? .allFrames : nil)
  }

  private func field(_ name: String, _ picture: LibvipsImage) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard vips_image_get_typeof(picture.pointer, name) != 0,
      vips_image_get_as_string(picture.pointer, name, &text) == 0, let text
    else { return nil }
    defer { g_free(text) }
    return String(cString: text)
  }

  @Test(
    arguments: [
      ("formats/jpeg-420.jpg", ImageFormat.jpeg), ("formats/png-rgb.png", .png), ("formats/webp-lossy.webp", .webp),
      ("formats/gif-still.gif", .gif), ("formats/tiff-strips.tif", .tiff), ("formats/avif.avif", .avif),
      // HEIC is not written.
      ("formats/heic.heic", .jpeg), ("formats/heic-alpha.heic", .webp),
    ])
  func sameKeepsTheFormatWhereItIsWritten(image: String, format: ImageFormat) async throws {
    try Codec.start()
    guard Codec.canWrite(format) else { return }
    let thumbnail = try await render(image) { $0.format = .same }
    #expect(thumbnail.format == format)
    #expect(try probe(.memory(Array(thumbnail.data))).format == format)
    #expect(try probe(.memory(Array(thumbnail.data))).size == thumbnail.size)
  }

  @Test func jpegXLIsWrittenWhereLibvipsCan() async throws {
    try Codec.start()
    guard Codec.canWrite(.jpegXL) else { return }
    let thumbnail = try await render("formats/jpeg-420.jpg") { $0.format = .jxl }
    #expect(thumbnail.format == .jpegXL && thumbnail.data.prefix(2) == Data([0xFF, 0x0A]))
  }

  @Test(arguments: [OutputFormat.jpeg, .png, .webp])
  func moreEffortNeverWritesManyMoreBytes(format: OutputFormat) async throws {
    let picture = try TestPicture.texture(200, 150).encoded()
    var sizes: [Int] = []
    for effort in [0, 9] {
      // Below 90 the codes of a JPEG are always made for it.
      let variant = Variant(size: PixelSize(200, 200), fit: .contain, format: format, quality: 90, effort: effort)
      sizes.append(try await TestRender.one(picture, variant).data.count)
    }
    #expect(sizes[1] < sizes[0], "\(sizes)")
  }

  @Test func aProfileIsKeptWithTheColoursItDescribes() async throws {
    let plain = try await render("formats/icc-display-p3.jpg") { $0.format = .png }
    let kept = try await render("formats/icc-display-p3.jpg") { ($0.format, $0.metadata) = (.png, .profile) }
    #expect(try open(plain.data).profile == nil)
    let picture = try open(kept.data)
    #expect(picture.profile != nil)
    // The samples are the profile's own, and mean the same when they are converted.
    let (own, standard) = (try DecodedPixels(kept.data), try DecodedPixels(plain.data))
    #expect(own.meanDifference(from: standard) > 1)
    let converted = try TestPicture.save(try picture.standardColours(), "pngsave_buffer", "strip=true")
    #expect(try DecodedPixels(Data(converted)).meanDifference(from: standard) < 2)
  }

  @Test func thumbnailsWithAndWithoutAProfileAreNotReadInOnePass() throws {
    let file = Array(try TestImages.bytes("formats/icc-display-p3.jpg"))
    let (plain, kept) = (variant { $0.quality = 70 }, variant { $0.metadata = .profile })
    #expect(try DecodePlan.make(file, [plain, kept]).passes.map(\.steps.count) == [1, 1])
    #expect(try DecodePlan.make(file, [plain, variant { $0.quality = 80 }]).passes.map(\.steps.count) == [2])
  }

  @Test func aProfileThatDoesNotFitIsNotKept() async throws {
    let thumbnail = try await render("formats/jpeg-cmyk.jpg") { $0.metadata = .profile }
    let picture = try open(thumbnail.data)
    #expect(picture.bands == 3 && picture.profile == nil)
  }

  @Test(
    arguments: [
      ("formats/gif-animated.gif", OutputFormat.auto, ImageFormat.webp), ("formats/gif-animated.gif", .same, .gif),
      ("formats/webp-animated.webp", .webp, .webp), ("formats/webp-animated.webp", .same, .webp),
    ])
  func anAnimationStaysOne(image: String, format: OutputFormat, written: ImageFormat) async throws {
    try Codec.start()
    guard Codec.canWrite(written) else { return }
    let source = try probe(.memory(Array(try TestImages.bytes(image))))
    let thumbnail = try await render(image) { ($0.format, $0.frames) = (format, .all) }
    let made = try probe(.memory(Array(thumbnail.data)))
    #expect(thumbnail.format == written && made.format == written)
    #expect(thumbnail.size.longerSide == 32 && made.size == thumbnail.size)
    let (before, after) = (try open(try TestImages.bytes(image)), try open(thumbnail.data))
    #expect(after.size.height == before.size.height / source.size.height * thumbnail.size.height)
    #expect(field("delay", before) == field("delay", after))
    #expect(field("loop", before) == field("loop", after))
    let still = try await render(image) { $0.format = format }
    #expect(try open(still.data).size == still.size)
  }

  @Test func everySizeAndShapeOfAnAnimationComesFromOneReading() async throws {
    let image = try TestImages.bytes("formats/gif-animated.gif")
    let variants = [
      Variant(size: PixelSize(40, 40), fit: .cover, gravity: .attention, frames: .all),
      Variant(size: PixelSize(16, 9), fit: .fill, background: .white, frames: .all),
      Variant(size: PixelSize(20, 20), fit: .contain, format: .jpeg, frames: .all),
    ]
    let rendered = try await TestRender.all(.memory(Array(image)), variants)
    let bySize = try Dictionary(uniqueKeysWithValues: rendered.map { ($0.variant, try $0.result.get()) })
    #expect(bySize[variants[0]]?.size == PixelSize(40, 40) && bySize[variants[0]]?.format == .webp)
    #expect(bySize[variants[1]]?.size == PixelSize(16, 9))
    // JPEG cannot be animated: the first frame.
    #expect(bySize[variants[2]]?.format == .jpeg)
    #expect(try open(try #require(bySize[variants[2]]).data).size == bySize[variants[2]]?.size)
  }

  @Test func anAnimationBeyondTheBudgetIsRefused() async throws {
    let body = ByteSource.memory(Array(try TestImages.bytes("formats/gif-animated.gif")))
    let variant = Variant(size: PixelSize(16000, 16000), fit: .fill, enlarges: true, frames: .all)
    await #expect(throws: CodecError.self) { try await TestRender.all(body, [variant], budget: 64 << 20) }
  }

  @Test func aBrokenAnimationFailsForAllItsThumbnails() async throws {
    for image in ["broken/truncated-in-the-second-frame.gif", "broken/truncated.gif"] {
      let rendered = try await TestRender.all(
        .memory(Array(try TestImages.bytes(image))), [variant { $0.frames = .all }])
      #expect(throws: CodecError.self) { try rendered[0].result.get() }
    }
  }
}
