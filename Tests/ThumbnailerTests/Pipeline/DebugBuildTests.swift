import Foundation
import TestOrigin
import Testing

@testable import PipelineTestSupport
@testable import TestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// Who reads a JPEG in a debug build, where the coefficient decoder is a hundred times slower than libvips.
@Suite(.timeLimit(.minutes(5)))
struct DebugBuildTests {
  @Test func onlyAnOptimisedBuildReadsCoefficientsByDefault() {
    #if DEBUG
      let isAsked = ProcessInfo.processInfo.environment["THUMBNAILER_READS_COEFFICIENTS"] == "1"
      #expect(ThumbnailPipeline.Configuration().readsCoefficients == isAsked)
    #else
      #expect(ThumbnailPipeline.Configuration().readsCoefficients)
    #endif
  }

  @Test func withoutTheCoefficientReaderLibvipsReadsTheWholeFile() async throws {
    let picture = try TestImages.bytes("formats/jpeg-progressive.jpg") + Data(count: 500_000)
    for readsCoefficients in [true, false] {
      let fixture = try PipelineFixture(configuring: { $0.readsCoefficients = readsCoefficients }) { _ in .ok(picture) }
      let response = try await fixture.pipeline.response(for: fixture.request("/a", PixelSize(20, 15)))
      #expect(response.plan?.hasPrefix(readsCoefficients ? "jpeg coefficients 1/8" : "jpeg 1/8") == true)
      #expect((response.downloadedBytes == picture.count) != readsCoefficients)
      #expect((response.bytesLeft == 0) != readsCoefficients)
    }
  }

  @Test func aStoredThumbnailIsShrunkByTheSameReader() async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    for readsCoefficients in [true, false] {
      let fixture = try PipelineFixture(configuring: { $0.readsCoefficients = readsCoefficients }) { _ in .ok(picture) }
      _ = try await fixture.pipeline.thumbnail(for: fixture.request("/a", PixelSize(120, 120)))
      let small = try await fixture.pipeline.response(for: fixture.request("/a", PixelSize(12, 12)))
      #expect(small.origin == .shrunk)
      let plans = fixture.recorder.kinds.compactMap { kind -> String? in
        if case .planned(let description, _) = kind { description } else { nil }
      }
      #expect(plans.contains { $0.contains("coefficients") } == readsCoefficients)
    }
  }
}
