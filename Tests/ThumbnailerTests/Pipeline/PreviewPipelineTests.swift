@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import PipelineTestSupport
@testable import Thumbnailer

/// Thumbnails of the preview in a picture's file.
@Suite(.timeLimit(.minutes(5))) struct PreviewPipelineTests {
  /// What an editor has changed is shown, in every mode the same.
  @Test(arguments: [nil] + PhonePicture.Edit.allCases)
  func theSameIsShownWithAndWithoutHelpers(_ edit: PhonePicture.Edit?) async throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "phone.heic")
    try Data(PhonePicture.bytes(edit)).write(to: file)
    let request = ThumbnailRequest(.file(at: file.path), variant: Variant(size: PixelSize(48, 32), fit: .contain))
    func response(_ isolation: DecodeIsolation, _ previews: PreviewUse = .auto) async throws -> ThumbnailResponse {
      let fixture = try PipelineFixture(configuring: {
        ($0.isolation, $0.previews) = (isolation, previews)
      }) { _ in .status(404) }
      return try await fixture.pipeline.response(for: request)
    }
    let here = try await response(.inProcess)
    let there = try await response(.helper(executable: HelperBench.executable))
    #expect(here.thumbnail.data == there.thumbnail.data && here.plan == there.plan && here.preview == there.preview)
    #expect(here.preview == (edit == nil ? .checked : nil))
    let image = try await response(.inProcess, .off).thumbnail.data
    #expect((here.thumbnail.data == image) == (edit != nil))
  }
}
