@testable import CodecTestSupport
@testable import ImageCodec
@testable import PipelineTestSupport

/// The program's own step between pixels and encoder.
@Suite(.timeLimit(.minutes(5))) struct ProcessorTests {
  private struct Refusal: Error, CustomStringConvertible { var description: String { "no ink" } }

  private static let processors = [
    // Paints the left half in a half transparent blue.
    ThumbnailProcessor("blue") { pixels in
      for y in 0..<pixels.height {
        for x in 0..<pixels.width / 2 {
          pixels.bytes.replaceSubrange(
            4 * (y * pixels.width + x)..<4 * (y * pixels.width + x) + 4, with: [0, 0, 255, 128])
        }
      }
    },
    ThumbnailProcessor("same") { _ in },
    ThumbnailProcessor("refusing") { _ in throw Refusal() },
    ThumbnailProcessor("cutting") { pixels in pixels.bytes.removeLast() },
  ]

  private func fixture(
    _ name: String = "jpeg-420.jpg", isolation: DecodeIsolation = .inProcess
  ) throws -> PipelineFixture {
    let picture = try TestImages.bytes("formats/\(name)")
    return try PipelineFixture {
      $0.processors = Self.processors
      $0.isolation = isolation
    } answer: { _ in
      .ok(picture, type: "image/any")
    }
  }

  private func request(
    _ fixture: PipelineFixture, _ processor: String?, _ size: PixelSize = PixelSize(40, 30),
    format: OutputFormat = .png
  ) -> ThumbnailRequest {
    ThumbnailRequest(
      ImageSource(fixture.origin.url("/a")),
      variant: Variant(size: size, fit: .cover, format: format, processor: processor))
  }

  @Test(arguments: ["jpeg-420.jpg", "jpeg-gray.jpg", "png-rgba.png", "png-gray.png"])
  func itsPixelsAreEncoded(name: String) async throws {
    guard FileManager.default.fileExists(atPath: TestImages.url("formats/\(name)").path) else { return }
    let fixture = try fixture(name)
    let plain = try DecodedPixels(try await fixture.pipeline.thumbnail(for: request(fixture, nil)).data)
    let pixels = try DecodedPixels(try await fixture.pipeline.thumbnail(for: request(fixture, "blue")).data)
    #expect(pixels.bands == 4 && pixels[3, 3] == [0, 0, 255, 128])
    let colours = plain[30, 20]
    #expect(
      Array(pixels[30, 20].prefix(3))
        == (colours.count < 3 ? [colours[0], colours[0], colours[0]] : Array(colours.prefix(3))))
    // Half transparent blue on white.
    let jpeg = try await fixture.pipeline.thumbnail(for: request(fixture, "blue", format: .jpeg))
    #expect(jpeg.format == .jpeg)
    #expect(try DecodedPixels(jpeg.data).isNear([127, 127, 255], 5, 15))
  }

  @Test func oneThatChangesNothingLeavesOpaqueThumbnailsAsTheyAre() async throws {
    let fixture = try fixture()
    let plain = try await fixture.pipeline.thumbnail(for: request(fixture, nil))
    #expect(try await fixture.pipeline.thumbnail(for: request(fixture, "same")).data == plain.data)
  }

  @Test func itsThumbnailsAreStoredUnderItsName() async throws {
    let fixture = try fixture()
    let blue = try await fixture.pipeline.thumbnail(for: request(fixture, "blue"))
    let plain = try await fixture.pipeline.thumbnail(for: request(fixture, nil))
    #expect(blue.data != plain.data)
    // A pipeline that has no processors still has what was stored.
    let other = try await fixture.restarted()
    let stored = try await other.response(for: request(fixture, "blue"))
    #expect(stored.origin == .disk && stored.thumbnail.data == blue.data)
    #expect(try await other.response(for: request(fixture, nil)).thumbnail.data == plain.data)
    // A smaller one is made of the image.
    let small = try await fixture.pipeline.response(for: request(fixture, "blue", PixelSize(20, 15)))
    #expect(small.origin == .source)
  }

  @Test func itsErrorIsTheRequests() async throws {
    let fixture = try fixture()
    for (name, words) in [("refusing", "no ink"), ("cutting", "bytes")] {
      let error = try #require(await fixture.pipeline.failure(request(fixture, name)))
      #expect(error.code == "processing-failed" && error.message.contains(words), "\(error)")
    }
    // The image is as good as before.
    #expect(try await fixture.pipeline.thumbnail(for: request(fixture, "same")).size == PixelSize(40, 30))
  }

  @Test func anUnknownNameIsRefused() async throws {
    let fixture = try fixture()
    let error = try #require(await fixture.pipeline.failure(request(fixture, "red")))
    #expect(error.code == "invalid-request" && error.message.contains("(processors)"), "\(error)")
  }

  @Test func whatAHelperDecodesIsProcessedHere() async throws {
    let isolation = DecodeIsolation.helper(executable: HelperBench.executable)
    let (here, there) = (try fixture(), try fixture(isolation: isolation))
    let expected = try await here.pipeline.thumbnail(for: request(here, "blue"))
    #expect(try await there.pipeline.thumbnail(for: request(there, "blue")) == expected)
  }

  @Test func namesMustBeValidAndDistinct() {
    for processors in [
      [ThumbnailProcessor("a b") { _ in }], [ThumbnailProcessor("a") { _ in }, ThumbnailProcessor("a") { _ in }],
    ] {
      #expect(throws: ThumbnailError.self) {
        var configuration = ThumbnailPipeline.Configuration()
        configuration.processors = processors
        _ = try ThumbnailPipeline(configuration)
      }
    }
  }

  @Test func eachFrameOfAnAnimationIsChanged() async throws {
    let file = try TestPicture(64, 128) { _, y in y < 64 ? [255, 255, 255] : [255, 0, 0] }
      .encoded("webpsave_buffer", "lossless=true,page-height=64")
    let fixture = try PipelineFixture {
      $0.processors = [
        ThumbnailProcessor("height") { pixels in
          guard pixels.width == 16, pixels.height == 16 else { throw Refusal() }
        }
      ]
    } answer: { _ in
      .ok(Data(file), type: "image/webp")
    }
    let variant = Variant(size: PixelSize(16, 16), fit: .cover, format: .webp, frames: .all, processor: "height")
    let request = ThumbnailRequest(ImageSource(fixture.origin.url("/a")), variant: variant)
    #expect(try await fixture.pipeline.thumbnail(for: request).size == PixelSize(16, 16))
  }
}
