import Thumbnailer

import TestSupport

@Suite(.timeLimit(.minutes(5))) struct ProcessorExampleTests {
  @Test(arguments: ["Processor", "Processing"]) func thePageShowsThisCode(name: String) throws {
    #expect(try Snippet(name).isShown(in: "Sources/Thumbnailer/Thumbnailer.docc/Extending.md"))
  }

  @Test func aStepChangesTheThumbnail() async throws {
    let example = try Example { configuration in
      // Processor begins
      configuration.processors = [
        ThumbnailProcessor("negative.1") { pixels in
          for index in pixels.bytes.indices where index % 4 != 3 { pixels.bytes[index] = 255 - pixels.bytes[index] }
        }
      ]
      // Processor ends
    }
    let (pipeline, url) = (example.pipeline, example.origin.url("/a.jpg"))
    // Processing begins
    let variant = Variant(size: PixelSize(200, 200), processor: "negative.1")
    let thumbnail = try await pipeline.thumbnail(for: ThumbnailRequest(ImageSource(url), variant: variant))
    // Processing ends
    let plain = try await pipeline.thumbnail(for: ThumbnailRequest(url, size: PixelSize(200, 200)))
    #expect(thumbnail.size == plain.size && thumbnail.data != plain.data)
  }
}
