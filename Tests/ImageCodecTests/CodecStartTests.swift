import CVips
import Foundation
import Testing

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
      // Only libvips' encoder has efforts.
      var variant = Variant(size: PixelSize(12, 12), fit: .contain, format: .png, scaling: .fast)
      variant.effort = 1
      let plan = try DecodePlan.make(
        probe: probed, bodyLength: file.count, variants: [variant], memoryBudget: 64 << 20)
      #expect(plan.coefficientScale != nil)
      let rendered = Downsampler.render(.memory(file), plan: plan, cancellation: CancellationFlag())
      #expect(throws: Never.self) { try #require(rendered.first).result.get() }
      #expect(vips_concurrency_get() == 1)
    }
  }
}
