import CVips
import Foundation
import Testing

@testable import CodecTestSupport
@testable import ImageCodec
@testable import TestSupport
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5)), .serialized)
struct CodecStartTests {
  /// In a process of its own, where nothing has started libvips yet.
  @Test func libvipsIsSetUpWhereTheCoefficientReaderComesFirst() async {
    await #expect(processExitsWith: .success) {
      let file = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
      let probed = try probe(.memory(file))
      // PNG with an effort is left to libvips.
      var variant = Variant(size: PixelSize(12, 12), fit: .contain, format: .png, scaling: .fast)
      variant.effort = 1
      let plan = try DecodePlan.make(
        probe: probed, bodyLength: file.count, variants: [variant], memoryBudget: 64 << 20)
      #expect(plan.coefficientScale != nil)
      let rendered = Downsampler.render(.memory(file), plan: plan)
      #expect(throws: Never.self) { try #require(rendered.first).result.get() }
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
        let variant = Variant(size: PixelSize(12, 12), fit: .contain, format: format)
        let plan = try DecodePlan.make(
          probe: try probe(.memory(file)), bodyLength: file.count, variants: [variant], memoryBudget: 64 << 20)
        let rendered = Downsampler.render(.memory(file), plan: plan)
        #expect(throws: Never.self, "\(name), \(format)") { try #require(rendered.first).result.get() }
      }
    }
  }
}
