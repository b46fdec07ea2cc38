@testable import CodecTestSupport
@testable import PipelineTestSupport
@testable import Thumbnailer

/// Thumbnails of cameras' RAW files, from the previews in them.
@Suite(.timeLimit(.minutes(5))) struct RAWPipelineTests {
  private let variant = Variant(size: PixelSize(200, 200), fit: .contain)

  private func local(_ bytes: [UInt8]) throws -> (TemporaryDirectory, ThumbnailRequest) {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "picture.raw")
    try Data(bytes).write(to: file)
    return (directory, ThumbnailRequest(.file(at: file.path), variant: variant))
  }

  @Test(arguments: ["CR2", "NEF", "RAF", "CR3", "MRW"])
  func aLocalFileIsShownByItsPreview(_ kind: String) async throws {
    let bytes = try RAWPictures.file(kind, orientation: 8, sensorLength: 2_000_000)
    let (directory, request) = try local(bytes)
    let fixture = try PipelineFixture { _ in .status(404) }
    let response = try await fixture.pipeline.response(for: request)
    let thumbnail = response.thumbnail
    #expect(thumbnail.size == PixelSize(133, 200) && thumbnail.source.format == .raw)
    #expect(thumbnail.source.byteCount == bytes.count && thumbnail.source.size.height > thumbnail.source.size.width)
    #expect(response.plan?.contains("preview of") == true && response.preview == .camera)
    withExtendedLifetime(directory) {}
  }

  @Test func aTransferEndsWhenThePreviewIsThere() async throws {
    let bytes = try RAWPictures.file("ARW", sensorLength: 3_000_000)
    let fixture = try PipelineFixture { _ in .ok(bytes).stalling(after: 500_000) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a.arw", PixelSize(200, 200)))
    #expect(response.downloadedBytes <= 500_000 && response.bytesLeft == bytes.count - response.downloadedBytes)
    #expect(response.thumbnail.source.byteCount == bytes.count && response.thumbnail.source.size == RAWPictures.full)
  }

  @Test func aRAWFileWithoutAPreviewIsAnErrorOfItsOwn() async throws {
    var tiff = TIFFWriter()
    tiff.write(chain: [[(0x010F, .text("SONY")), (0x0106, .short([32803]))]])
    let (directory, request) = try local(tiff.bytes)
    let fixture = try PipelineFixture { _ in .status(404) }
    let task = Task { try await fixture.pipeline.thumbnail(for: request) as Thumbnail }
    let error = try #require(await failure(of: task))
    #expect(error.code == "raw-without-preview" && error.message.contains("Sony ARW") && error.httpStatus == 415)
    withExtendedLifetime(directory) {}
  }

  @Test func aVideoIsCalledOne() async throws {
    let (directory, request) = try local([0, 0, 0, 20] + Array("ftypqt  \0\0\0\0qt  ".utf8))
    let fixture = try PipelineFixture { _ in .status(404) }
    #expect(await fixture.pipeline.failure(request)?.code == "video")
    withExtendedLifetime(directory) {}
  }
}
