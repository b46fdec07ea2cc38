import Thumbnailer

import TestSupport

// Loader begins
/// Loads images from wherever a program has them: here from a dictionary, in pieces as they would come from a network.
struct AlbumLoader: ImageLoading {
  let images: [String: Data]
  let name: String

  func load(_ request: ImageLoadRequest) async throws -> LoadedImage {
    guard let image = images[name] else { throw ThumbnailError.notFound(reason: "the album has no \(name)") }
    let pieces = AsyncStream { stream in
      for start in stride(from: 0, to: image.count, by: 16_384) {
        stream.yield(image.dropFirst(start).prefix(16_384))
      }
      stream.finish()
    }
    return LoadedImage(expectedLength: image.count, pieces: pieces)
  }
}
// Loader ends

@Suite(.timeLimit(.minutes(5))) struct LoaderExampleTests {
  @Test(arguments: ["Loader", "Sources"]) func thePageShowsThisCode(snippet: String) throws {
    #expect(try Snippet(snippet).isShown(in: "Sources/Thumbnailer/Thumbnailer.docc/Extending.md"))
  }

  @Test func imagesOfTheProgramsOwnAreMadeIntoThumbnails() async throws {
    let example = try Example()
    let (pipeline, bytes, album) = (example.pipeline, example.picture, ["a.jpg": example.picture])
    let variant = Variant(size: PixelSize(40, 40))
    // Sources begins
    // Bytes in memory, known to the caches by a digest of them, or by a name: .data(bytes, identity: "upload 7").
    let upload = ImageSource.data(bytes)

    // What a loader gets. The identity has the version, since thumbnails of it are never out of date.
    let photo = ImageSource.loaded(by: AlbumLoader(images: album, name: "a.jpg"), identity: "a.jpg, revision 3")

    for source in [upload, photo] {
      let thumbnail = try await pipeline.thumbnail(for: ThumbnailRequest(source, variant: variant))
      print(thumbnail.size)
    }
    // Sources ends
    #expect(pipeline.statistics.rendered == 2 && example.origin.requests.isEmpty)
    let missing = ImageSource.loaded(by: AlbumLoader(images: album, name: "b.jpg"), identity: "b.jpg")
    await #expect(throws: ThumbnailError.notFound(reason: "the album has no b.jpg")) {
      _ = try await pipeline.thumbnail(for: ThumbnailRequest(missing, variant: variant))
    }
  }
}
