import Foundation
import TestOrigin
import Testing

@testable import PipelineTestSupport
@testable import TestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// Thumbnails of the preview in a picture's EXIF data.
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
    let request = ThumbnailRequest(.file(at: path), variant: Variant(size: size))
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

  /// The file with half a megabyte of nothing at its end.
  private func padded(_ name: String) throws -> [UInt8] {
    [UInt8](try TestImages.bytes("formats/\(name)")) + [UInt8](repeating: 0, count: 500_000)
  }
}
