@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct DownsamplerTests {
  @Test(arguments: [Gravity.attention, .entropy]) func gravityFindsWhatStandsOut(_ gravity: Gravity) async throws {
    // A red and white chequered patch at the right of a gray ground that is not quite opaque.
    for bands in [3, 4] {
      let file = try TestPicture(600, 100, bands: bands) { x, y in
        guard (480..<580).contains(x) else { return [128, 128, 128, 250] }
        return (x / 4 + y / 4) % 2 == 0 ? [230, 20, 20, 255] : [255, 255, 255, 255]
      }.encoded()
      let variant = Variant(size: PixelSize(50, 50), fit: .cover, gravity: gravity, format: .png)
      let pixels = try await TestRender.pixels(file, variant)
      let reddish = (0..<50).filter { Int(pixels[$0, 25][0]) - Int(pixels[$0, 25][1]) > 30 }
      #expect(reddish.count > 15, "\(gravity), \(bands) bands: \(reddish.count) columns")
    }
  }

  @Test func severalSizesFromOneDecodeHaveTheSizesAndLooksOfSingleOnes() async throws {
    let file = try TestPicture.texture(1200, 900).encoded("jpegsave_buffer", "Q=95")
    let variants = [
      Variant(size: PixelSize(64, 64), fit: .contain, format: .png),
      Variant(size: PixelSize(400, 400), fit: .cover, format: .png),
      Variant(size: PixelSize(300, 300), fit: .cover, gravity: .entropy, format: .png),
      Variant(size: PixelSize(150, 100), fit: .fill, format: .png),
      Variant(size: PixelSize(40, 40), fit: .cover, gravity: .south, format: .png),
    ]
    let together = try await TestRender.all(.memory(file), variants)
    #expect(Set(together.map(\.variant)) == Set(variants))
    for rendered in together {
      let thumbnail = try rendered.result.get()
      let alone = try await TestRender.one(file, rendered.variant)
      #expect(thumbnail.size == alone.size)
      #expect(thumbnail.source == alone.source)
      let difference = try DecodedPixels(thumbnail.data).meanDifference(from: DecodedPixels(alone.data))
      if rendered.variant.gravity != .entropy { #expect(difference < 6, "\(rendered.variant)") }
    }
    let smallest = Variant(size: PixelSize(300, 225), fit: .contain)
    #expect(
      try await TestRender.one(file, smallest).source
        == SourceDescription(size: PixelSize(1200, 900), format: .jpeg, byteCount: file.count))
  }

  @Test func transparencyChoosesTheFormatUnderAuto() async throws {
    let clear = TestPicture(100, 100, bands: 4) { x, _ in [200, 0, 0, x < 50 ? 0 : 255] }
    for (picture, format) in [
      (clear, ImageFormat.webp), (TestPicture(100, 100, bands: 4) { _, _ in [200, 0, 0, 255] }, .jpeg),
      (TestPicture(100, 100, bands: 2) { x, _ in [100, x < 50 ? 0 : 255] }, .webp),
    ] {
      #expect(try await TestRender.one(picture.encoded(), Variant(size: PixelSize(40, 40))).format == format)
    }
    let pixels = try await TestRender.pixels(clear.encoded(), Variant(size: PixelSize(40, 40)))
    #expect(pixels.bands == 4 && pixels[5, 20][3] == 0 && pixels[35, 20][3] == 255)
    #expect(pixels.isNear([200, 0, 0], 22, 20), "the colour of transparent pixels does not bleed")
  }

  @Test func alphaIsFlattenedOntoTheBackground() async throws {
    let clear = try TestPicture(100, 100, bands: 4) { _, _ in [200, 0, 0, 0] }.encoded()
    let gray = try TestPicture(100, 100, bands: 2) { _, _ in [100, 0] }.encoded()
    let blue = RGBColor(red: 0, green: 0, blue: 255)
    for (file, format, background) in [
      (clear, OutputFormat.jpeg, nil), (clear, .jpeg, blue), (clear, .auto, blue), (clear, .png, blue),
      (clear, .webp, blue), (gray, .png, blue),
    ] {
      let variant = Variant(size: PixelSize(40, 40), format: format, background: background)
      let pixels = try await TestRender.pixels(file, variant)
      #expect(pixels.bands == 3 && pixels.isNear(background == nil ? [255, 255, 255] : [0, 0, 255], 20, 20))
    }
  }

  @Test(arguments: [OutputFormat.jpeg, .png, .webp, .avif])
  func everyOutputFormatIsWritten(_ format: OutputFormat) async throws {
    let file = try TestPicture.quarters(200, 200).encoded()
    try Codec.start()
    guard let written = format.imageFormat, Codec.canWrite(written) else { return }
    let thumbnail = try await TestRender.one(file, Variant(size: PixelSize(64, 64), format: format))
    #expect(thumbnail.format.rawValue == format.rawValue)
    let probed = try probe(.memory(Array(thumbnail.data)))
    #expect(probed.format == thumbnail.format && probed.size == PixelSize(64, 64))
    try DecodedPixels(thumbnail.data).expectQuarters("\(format)")
  }

  @Test func extremeShapesAreRendered() async throws {
    for (width, height) in [(1, 1), (1, 10000), (10000, 1), (65500, 1)] {
      let file = try TestPicture(width, height) { _, _ in TestPicture.green }.encoded()
      for fit in [Fit.contain, .cover, .fill] {
        for enlarges in [false, true] {
          let variant = Variant(size: PixelSize(100, 100), fit: fit, format: .png, enlarges: enlarges)
          let thumbnail = try await TestRender.one(file, variant)
          #expect(thumbnail.size == ThumbnailGeometry(source: PixelSize(width, height), variant: variant).output)
          let pixels = try DecodedPixels(thumbnail.data)
          #expect(pixels.size == thumbnail.size)
          #expect(pixels.isNear(TestPicture.green, thumbnail.size.width / 2, thumbnail.size.height / 2))
        }
      }
    }
  }

  @Test func sizesThatNoThumbnailCanHaveAreRefused() throws {
    let probed = ImageProbe(format: .jpeg, storedSize: PixelSize(100, 100))
    for size in [PixelSize(0, 10), PixelSize(10, -1), PixelSize(16384, 1)] {
      #expect(throws: CodecError.invalidSize(size)) {
        try DecodePlan.make(probe: probed, bodyLength: 1, variants: [Variant(size: size)], memoryBudget: 1 << 30)
      }
    }
  }

  @Test func aBodyInAFileIsReadWithoutMovingItsOffset() async throws {
    let file = try TestPicture.texture(600, 400).encoded("jpegsave_buffer")
    let variant = Variant(size: PixelSize(64, 64))
    let (body, descriptor) = try ByteSource.withFile(file) { _, url in
      let descriptor = FileDescriptor(owning: open(url.path, O_RDONLY))
      return (ByteSource.file(descriptor, count: file.count), descriptor)
    }
    #expect(try await TestRender.all(body, [variant])[0].result.get() == TestRender.one(file, variant))
    #expect(lseek(descriptor.rawValue, 0, SEEK_CUR) == 0)
  }

  @Test func aSetFlagCancels() async throws {
    let file = try TestPicture.texture(800, 800).encoded()
    let flag = CancellationFlag()
    flag.set()
    let plan = try DecodePlan.make(file, [Variant(size: PixelSize(64, 64)), Variant(size: PixelSize(50, 50))])
    for rendered in try await render(file, plan, flag) {
      #expect(throws: CodecError.cancelled) { try rendered.result.get() }
    }
  }

  /// Renders on a thread of a pool, of which another thread may set the flag meanwhile.
  private func render(
    _ file: [UInt8], _ plan: DecodePlan, _ flag: CancellationFlag, on pool: WorkerPool = TestRender.pool,
    cancelling: Bool = false
  ) async throws -> [RenderedVariant] {
    let result: Result<[RenderedVariant], Never> = try await pool.run(priority: PriorityControl(.visible)) { _ in
      if cancelling { Thread { flag.set() }.start() }
      return .success(Downsampler.render(.memory(file), plan: plan, cancellation: flag))
    }
    return result.get()
  }

  @Test func cancellingStopsADecodeThatRuns() async throws {
    let file = try TestPicture.texture(300, 200).repeated(20).encoded("pngsave_buffer", "compression=1")
    let plan = try DecodePlan.make(file, [Variant(size: PixelSize(300, 300))])
    for rendered in try await render(file, plan, CancellationFlag(), cancelling: true) {
      #expect(throws: CodecError.cancelled) { try rendered.result.get() }
    }
    // Whoever comes next is not touched by it.
    let next = try TestPicture.quarters(80, 80).encoded()
    #expect(try await TestRender.one(next, Variant(size: PixelSize(40, 40))).size == PixelSize(40, 40))
  }

  @Test func manyThreadsRenderAtOnce() async throws {
    let pool = WorkerPool(name: "codec-crowd", threads: 4, onThreadExit: Codec.threadWillEnd)
    let file = try TestPicture.texture(600, 400).encoded("jpegsave_buffer")
    let broken = Array(file.prefix(file.count / 2))
    let variant = Variant(size: PixelSize(64, 64))
    let alone = try await TestRender.one(file, variant)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<24 {
        group.addTask {
          let bytes = index % 3 == 0 ? broken : file
          let plan = try DecodePlan.make(bytes, [variant])
          let rendered = try await render(bytes, plan, CancellationFlag(), on: pool)[0]
          if index % 3 == 0 {
            #expect(throws: CodecError.self) { try rendered.result.get() }
          } else {
            #expect(try rendered.result.get().data == alone.data)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
