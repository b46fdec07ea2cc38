@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import PipelineTestSupport
@testable import Thumbnailer

/// Thumbnails of the preview in a picture's file.
@Suite(.timeLimit(.minutes(5))) struct PreviewPipelineTests {
  private let size = PixelSize(120, 90)

  @Test func onlyTheBeginningOfTheFileIsDownloaded() async throws {
    let file = try padded("jpeg-exif-thumbnail.jpg")
    let fixture = try PipelineFixture(configuring: { $0.previews = .on }) { _ in .ok(file).stalling(after: 120_000) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a", size))
    #expect(response.thumbnail.size == size && response.thumbnail.source.size == PixelSize(640, 480))
    #expect(response.bytesLeft > 0 && response.thumbnail.source.byteCount == file.count)
    await poll {
      fixture.recorder.kinds.contains {
        if case .planned(let plan, _) = $0 { plan.hasPrefix("embedded preview, ") } else { false }
      }
    }
  }

  @Test func thePreviewOfAnotherPictureGivesWayToThePicture() async throws {
    let file = try padded("jpeg-exif-thumbnail-of-another-picture.jpg")
    let plain = try PipelineFixture { _ in .ok(file) }
    let expected = try await plain.pipeline.thumbnail(for: plain.request("/a", size))
    let fixture = try PipelineFixture(configuring: { $0.previews = .on }) { _ in .ok(file) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a", size))
    #expect(response.thumbnail.data == expected.data)
    #expect(fixture.origin.requests.count == 2 && response.bytesLeft == 0 && response.downloadedBytes > file.count)
    // A local file is at hand already.
    let path = TestImages.url("formats/jpeg-exif-thumbnail-of-another-picture.jpg").path
    let request = ThumbnailRequest(.file(at: path), variant: Variant(size: size, fit: .cover))
    let (local, same) = (
      try await fixture.pipeline.thumbnail(for: request), try await plain.pipeline.thumbnail(for: request)
    )
    #expect(local.data == same.data)
  }

  @Test func previewsAreNotUsedUnlessAskedFor() async throws {
    let file = try padded("jpeg-exif-thumbnail.jpg")
    let fixture = try PipelineFixture { _ in .ok(file) }
    #expect(try await fixture.pipeline.response(for: fixture.request("/a", size)).downloadedBytes == file.count)
  }

  @Test func aLargerSizeTakesThePicture() async throws {
    let file = try padded("jpeg-exif-thumbnail.jpg")
    let fixture = try PipelineFixture(configuring: { $0.previews = .on }) { _ in .ok(file) }
    let results = await fixture.pipeline.responses(
      for: ImageSource(fixture.origin.url()),
      variants: [Variant(size: size, fit: .contain), Variant(size: PixelSize(320, 240), fit: .contain)])
    #expect(try results.map { try $0.get().thumbnail.size } == [size, PixelSize(320, 240)])
    #expect(fixture.origin.requests.count == 1 && fixture.pipeline.statistics.bytesLeft == 0)
  }

  /// What an editor has changed is shown, in every mode the same.
  @Test(arguments: [nil] + PhonePicture.Edit.allCases)
  func theSameIsShownWithAndWithoutHelpers(_ edit: PhonePicture.Edit?) async throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "phone.heic")
    try Data(PhonePicture.bytes(edit)).write(to: file)
    let request = ThumbnailRequest(.file(at: file.path), variant: Variant(size: PixelSize(48, 32), fit: .contain))
    func response(
      _ isolation: DecodeIsolation, _ previews: PreviewUse = .auto
    ) async throws -> ThumbnailResponse {
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

  @Test func aPreviewThatIsNotComparedIsUsedOnRequestAndToldOf() async throws {
    let bytes = try PhonePicture.whole()
    let small = PixelSize(32, 32)
    let fixture = try PipelineFixture { _ in .ok(bytes) }
    let image = try await fixture.pipeline.response(for: fixture.request("/a", small))
    #expect(image.preview == nil)
    let asked = try PipelineFixture(configuring: { $0.previews = .on }) { _ in .ok(bytes) }
    let preview = try await asked.pipeline.response(for: asked.request("/a", small))
    #expect(preview.preview == .unchecked && preview.thumbnail.data != image.thumbnail.data)
    // The caches tell it, too.
    let restarted = try await asked.restarted { _ in }
    let stored = try await restarted.response(for: asked.request("/a", small))
    #expect(stored.origin == .disk && stored.preview == .unchecked)
  }

  /// The file with half a megabyte of nothing at its end.
  private func padded(_ name: String) throws -> [UInt8] {
    [UInt8](try TestImages.bytes("formats/\(name)")) + [UInt8](repeating: 0, count: 500_000)
  }
}
