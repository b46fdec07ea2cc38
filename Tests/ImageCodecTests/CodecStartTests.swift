@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5)), .serialized) struct CodecStartTests {
  /// In a process of its own, where nothing has started libvips yet.
  @Test func libvipsIsSetUpWhereTheCoefficientReaderComesFirst() async {
    await #expect(processExitsWith: .success) {
      let file = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
      // PNG with an effort is left to libvips.
      let variant = Variant(size: PixelSize(12, 12), fit: .contain, format: .png, effort: 1)
      let plan = try DecodePlan.make(file, [variant])
      #expect(plan.coefficientScale != nil)
      #expect(throws: Never.self) { try Downsampler.render(.memory(file), plan: plan)[0].result.get() }
      #expect(vips_concurrency_get() == 1)
    }
  }

  @Test func whatIsReadAndWrittenWithoutLibvipsDoesNotStartIt() async {
    await #expect(processExitsWith: .success) {
      Codec.forbidStart()
      for (name, format) in [
        ("png-rgba.png", OutputFormat.same), ("png-rgba.png", .webp), ("png-rgb.png", .auto),
        ("webp-lossless-alpha.webp", .same), ("webp-lossless-alpha.webp", .auto), ("jpeg-420.jpg", .png),
        ("jpeg-420.jpg", .webp),
      ] {
        let file = [UInt8](try TestImages.bytes("formats/\(name)"))
        let plan = try DecodePlan.make(file, [Variant(size: PixelSize(12, 12), fit: .contain, format: format)])
        let rendered = Downsampler.render(.memory(file), plan: plan)
        #expect(throws: Never.self, "\(name), \(format)") { try rendered[0].result.get() }
      }
    }
  }
}
