@_exported public import CVips
@_exported public import TestSupport

@testable import ImageCodec
@_exported @testable public import ThumbnailCore

/// A synthetic image, defined pixel by pixel, and encoded by libvips in any format it supports.
struct TestPicture {
  /// Red, green, blue and, with four samples, alpha.
  typealias Pixel = [UInt8]

  var size: PixelSize
  var pixels: [UInt8]
  var bands: Int
  /// The EXIF orientation to write; 1 writes none.
  var orientation = 1

  init(_ width: Int, _ height: Int, bands: Int = 3, _ pixel: (_ x: Int, _ y: Int) -> Pixel) {
    size = PixelSize(width, height)
    self.bands = bands
    pixels = []
    pixels.reserveCapacity(width * height * bands)
    for y in 0..<height { for x in 0..<width { pixels += pixel(x, y).prefix(bands) } }
  }

  static let red: Pixel = [220, 30, 30, 255]
  static let green: Pixel = [30, 200, 30, 255]
  static let blue: Pixel = [30, 30, 220, 255]
  static let yellow: Pixel = [220, 220, 30, 255]

  /// Red, green, blue and yellow quarters: upper left, upper right, lower left, lower right.
  static func quarters(_ width: Int, _ height: Int) -> TestPicture {
    TestPicture(width, height) { x, y in quarter(x, y, width, height) }
  }

  static func quarter(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Pixel {
    switch (x < width / 2, y < height / 2) {
    case (true, true): red
    case (false, true): green
    case (true, false): blue
    case (false, false): yellow
    }
  }

  /// Noise with detail everywhere, so that no format compresses it to nothing; deterministic.
  static func texture(_ width: Int, _ height: Int, bands: Int = 3) -> TestPicture {
    var state: UInt32 = 1
    return TestPicture(width, height, bands: bands) { x, y in
      state = state &* 1_664_525 &+ 1_013_904_223
      let noise = UInt8(state >> 28)
      return [
        UInt8(x * 239 / width) + noise, UInt8(y * 239 / height) + noise, UInt8((x + y) / 8 % 2 * 200) + noise,
        UInt8(x * 255 / width),
      ]
    }
  }

  /// The image tiled `count` × `count` times: a large one without computing each pixel.
  func repeated(_ count: Int) -> TestPicture {
    var large = self
    large.size = PixelSize(size.width * count, size.height * count)
    large.pixels = []
    large.pixels.reserveCapacity(pixels.count * count * count)
    let row = size.width * bands
    var band: [UInt8] = []
    for start in stride(from: 0, to: pixels.count, by: row) {
      for _ in 0..<count { band += pixels[start..<start + row] }
    }
    for _ in 0..<count { large.pixels += band }
    return large
  }

  /// The encoded file. `saver` is one of libvips' buffer savers, `options` have the syntax of its command line.
  ///
  /// With 16 bits a sample its bytes come from two places, so each is another one; with `widens` each is twice that of 8
  /// bits.
  func encoded(
    _ saver: String = "pngsave_buffer", _ options: String = "", bits: Int = 8, widens: Bool = false
  ) throws -> [UInt8] {
    try Self.save(try image(bits: bits, widens: widens), saver, options)
  }

  /// What is encoded.
  func image(bits: Int = 8, widens: Bool = false) throws -> LibvipsImage {
    try Codec.start()
    let isWide = bits == 16
    let wide = widens ? pixels.flatMap { [$0, $0] } : isWide ? pixels + pixels.reversed() : []
    return try (isWide ? wide : pixels).withUnsafeBytes { memory in
      let image = vips_image_new_from_memory_copy(
        memory.baseAddress, memory.count, Int32(size.width), Int32(size.height), Int32(bands),
        isWide ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR)
      var picture = LibvipsImage(owning: try #require(image))
      let space =
        bands < 3
        ? (isWide ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W)
        : (isWide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB)
      picture = try picture.applying { cvips_reinterpret($0, $1, space) }
      if orientation != 1 { vips_image_set_int(picture.pointer, "orientation", Int32(orientation)) }
      return picture
    }
  }

  /// Encodes an image of libvips.
  static func save(_ picture: LibvipsImage, _ saver: String, _ options: String = "") throws -> [UInt8] {
    try run(saver, on: picture, options) { object in
      var output = GValue()
      g_value_init(&output, vips_blob_get_type())
      g_object_get_property(object, "buffer", &output)
      defer { g_value_unset(&output) }
      var length = 0
      let bytes = try #require(vips_value_get_blob(&output, &length))
      return Array(UnsafeRawBufferPointer(start: bytes, count: length))
    }
  }

  /// Applies an operation of libvips that takes and returns one image.
  static func apply(_ operation: String, to picture: LibvipsImage, _ options: String) throws -> LibvipsImage {
    try run(operation, on: picture, options) { object in
      var output = GValue()
      g_value_init(&output, vips_image_get_type())
      g_object_get_property(object, "out", &output)
      defer { g_value_unset(&output) }
      let image = try #require(g_value_dup_object(&output))
      return LibvipsImage(owning: image.assumingMemoryBound(to: VipsImage.self))
    }
  }

  /// Runs an operation by name, with options as on the command line, and passes it to a closure that reads its outputs.
  private static func run<Result>(
    _ name: String, on picture: LibvipsImage, _ options: String,
    _ outputs: (UnsafeMutablePointer<GObject>) throws -> Result
  ) throws -> Result {
    let operation = try #require(vips_operation_new(name))
    defer { g_object_unref(operation) }
    let object = UnsafeMutableRawPointer(operation).assumingMemoryBound(to: GObject.self)
    let vipsObject = UnsafeMutableRawPointer(operation).assumingMemoryBound(to: VipsObject.self)
    var input = GValue()
    g_value_init(&input, vips_image_get_type())
    g_value_set_object(&input, picture.pointer)
    g_object_set_property(object, name == "extract_area" ? "input" : "in", &input)
    g_value_unset(&input)
    if !options.isEmpty {
      try #require(vips_object_set_from_string(vipsObject, options) == 0, "\(Codec.errorText())")
    }
    let built = try #require(vips_cache_operation_build(operation), "\(Codec.errorText())")
    defer {
      vips_object_unref_outputs(vipsObject)
      g_object_unref(built)
    }
    return try outputs(object)
  }
}

/// The decoded pixels of a thumbnail.
struct DecodedPixels {
  let size: PixelSize
  let bands: Int
  let bytes: [UInt8]

  init(size: PixelSize, bands: Int, bytes: [UInt8]) { (self.size, self.bands, self.bytes) = (size, bands, bytes) }

  init(_ data: Data) throws {
    let body = ByteSource.memory(Array(data))
    let format = try probe(body).format
    try self.init(try BodyReader(body, cancellation: CancellationFlag()).load(format, VIPS_FAIL_ON_ERROR))
  }

  /// The pixels of an 8-bit image.
  init(_ picture: LibvipsImage) throws {
    var length = 0
    let memory = try #require(vips_image_write_to_memory(picture.pointer, &length), "\(Codec.errorText())")
    defer { g_free(memory) }
    (size, bands, bytes) = (picture.size, picture.bands, Array(UnsafeRawBufferPointer(start: memory, count: length)))
  }

  /// Those of a file by a plan, by default one that is made for it.
  init(_ file: [UInt8], _ variant: Variant, mayReadCoefficients: Bool = true, plan: DecodePlan? = nil) throws {
    let plan = try plan ?? DecodePlan.make(file, [variant], mayReadCoefficients: mayReadCoefficients)
    try self.init(#require(Downsampler.render(.memory(file), plan: plan).first).result.get().data)
  }
  /// The samples of one pixel.
  subscript(x: Int, y: Int) -> [UInt8] {
    let start = (y * size.width + x) * bands
    return Array(bytes[start..<start + bands])
  }

  /// The samples of one band in row order.
  func plane(_ band: Int) -> [Double] { stride(from: band, to: bytes.count, by: bands).map { Double(bytes[$0]) } }

  /// Whether a pixel has the colour, within `tolerance` for each sample.
  func isNear(_ colour: [UInt8], _ x: Int, _ y: Int, tolerance: Int = 12) -> Bool {
    zip(self[x, y], colour).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
  }

  /// Expects the colours of `TestPicture.quarters` in the corners.
  func expectQuarters(_ note: String, tolerance: Int = 12) {
    let (right, bottom) = (size.width - 4, size.height - 4)
    for (colour, x, y) in [
      (TestPicture.red, 3, 3), (TestPicture.green, right, 3), (TestPicture.blue, 3, bottom),
      (TestPicture.yellow, right, bottom),
    ] {
      #expect(isNear(colour, x, y, tolerance: tolerance), "\(note): \(self[x, y])")
    }
  }

  /// The mean absolute difference of all samples from an image of the same size.
  func meanDifference(from other: DecodedPixels) -> Double {
    guard size == other.size, bands == other.bands else { return 255 }
    let sum = zip(bytes, other.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    return Double(sum) / Double(max(1, bytes.count))
  }
}

/// Renders on a pool thread, as the pipeline does.
enum TestRender {
  static let pool = WorkerPool(name: "codec-tests", threads: 1, onThreadExit: Codec.threadWillEnd)

  static func all(
    _ body: ByteSource, _ variants: [Variant], budget: Int = 512 << 20, isTolerant: Bool = false
  ) async throws -> [RenderedVariant] {
    let probed = try probe(body)
    let result: Result<[RenderedVariant], CodecError> = try await pool.run(priority: PriorityControl(.visible)) {
      flag in
      Result { () throws(CodecError) in
        try inPlace(body, probed, variants, budget: budget, isTolerant: isTolerant, flag)
      }
    }
    return try result.get()
  }

  /// The same on the calling thread. If the coefficient decoder rejects an image, libvips decodes it, as in the
  /// pipeline.
  static func inPlace(
    _ body: ByteSource, _ probed: ImageProbe, _ variants: [Variant], budget: Int, isTolerant: Bool = false,
    _ flag: CancellationFlag
  ) throws(CodecError) -> [RenderedVariant] {
    var (body, probed) = (body, probed)
    if probed.isRAW {
      let preview = try RAWPreview(variants, of: probed, in: body)
      (body, probed) = (preview.bytes, preview.probe)
    }
    for mayReadCoefficients in [true, false] {
      let plan = try DecodePlan.make(
        probe: probed, bodyLength: body.count, variants: variants, memoryBudget: budget, isTolerant: isTolerant,
        mayReadCoefficients: mayReadCoefficients)
      let rendered = Downsampler.render(body, plan: plan, cancellation: flag)
      let isHandedOver = rendered.contains { if case .failure(.handedOver) = $0.result { true } else { false } }
      if !isHandedOver { return rendered }
    }
    return []
  }

  static func one(_ bytes: [UInt8], _ variant: Variant, isTolerant: Bool = false) async throws -> Thumbnail {
    let rendered = try await all(.memory(bytes), [variant], isTolerant: isTolerant)
    return try #require(rendered.first).result.get()
  }
  static func pixels(_ bytes: [UInt8], _ variant: Variant) async throws -> DecodedPixels {
    try DecodedPixels(try await one(bytes, variant).data)
  }
}
extension DecodePlan {
  /// The plan for a file with memory for any.
  static func make(_ file: [UInt8], _ variants: [Variant], mayReadCoefficients: Bool = true) throws -> DecodePlan {
    try make(
      probe: ImageCodec.probe(.memory(file)), bodyLength: file.count, variants: variants, memoryBudget: 1 << 40,
      mayReadCoefficients: mayReadCoefficients)
  }
}
extension ByteSource {
  /// Calls a closure with bytes in a file, which is removed afterwards.
  static func withFile<Value>(_ bytes: [UInt8], _ body: (ByteSource, URL) throws -> Value) throws -> Value {
    let directory = try TemporaryDirectory()
    let url = directory.url.appending(path: "body")
    try Data(bytes).write(to: url)
    return try body(.file(FileDescriptor(owning: open(url.path, O_RDONLY)), count: bytes.count), url)
  }
}
extension HeaderProber {
  /// What a prober says that is fed so many bytes at a time.
  static func status(of bytes: [UInt8], by length: Int, limits: DecodeLimits = DecodeLimits()) -> Status {
    var prober = HeaderProber(limits: limits)
    bytes.withUnsafeBytes { all in
      for start in stride(from: 0, to: all.count, by: length) {
        prober.feed(UnsafeRawBufferPointer(rebasing: all[start..<min(start + length, all.count)]))
        #expect(prober.heldCount <= HeaderProber.mostHeld)
      }
    }
    return prober.status
  }
}

extension CodecError {
  /// The name of its case.
  var kind: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
extension Raster {
  /// A raster with the pixels of a function.
  convenience init(
    _ size: PixelSize, bands: Int, space: Space? = nil, profile: [UInt8]? = nil,
    _ pixel: (_ x: Int, _ y: Int) throws -> [UInt8]
  ) throws {
    let samples = try (0..<size.pixelCount).flatMap { try pixel($0 % size.width, $0 / size.width) }
    try self.init(size: size, bands: bands, space: space, profile: profile) { $0.copyBytes(from: samples) }
  }
  var bytes: [UInt8] { withBytes { Array($0) } }

  /// JFIF's luma and chroma of RGB.
  func ycc() throws -> Raster {
    let pixels = bytes
    return try Raster(size, bands: 3, space: .ycc) { x, y in
      let start = 3 * (y * size.width + x)
      let colour = pixels[start..<start + 3].map { Double($0) }
      let luma = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
      return [luma, 128 + (colour[2] - luma) / 1.772, 128 + (colour[0] - luma) / 1.402].map {
        UInt8(max(0, min(255, $0.rounded())))
      }
    }
  }
}

extension Downsampler {
  /// The thumbnails of a plan, as the pipeline makes them in process.
  static func render(
    _ body: ByteSource, plan: DecodePlan, cancellation: CancellationFlag = CancellationFlag()
  ) -> [RenderedVariant] {
    finished(pixels(of: body, plan: plan, cancellation: cancellation), plan.probe, body, cancellation)
  }

  /// The same from a preview; nil if it does not match.
  static func render(_ body: ByteSource, preview: PreviewPlan, of probe: ImageProbe) -> [RenderedVariant]? {
    let cancellation = CancellationFlag()
    return pixels(of: body, preview: preview, cancellation: cancellation)
      .map { finished($0, probe, body, cancellation) }
  }

  private static func finished(
    _ made: [Rendered<ThumbnailRaster>], _ probe: ImageProbe, _ body: ByteSource, _ cancellation: CancellationFlag
  ) -> [RenderedVariant] {
    let source = SourceDescription(
      size: probe.origin?.size ?? probe.size, format: probe.origin?.format ?? probe.format, byteCount: body.count)
    return ThumbnailFinisher(source: source).finish(made, cancellation: cancellation)
  }
}
