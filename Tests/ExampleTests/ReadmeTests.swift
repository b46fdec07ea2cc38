import Foundation
import PhotoSources
import TestOrigin
import Testing
import Thumbnailer

@testable import TestSupport

/// The README's example of the library, compiled and run. The lines between the marks are the README's.
private func readmeExample(directory: URL, url: URL, requests: [ThumbnailRequest]) async throws {
  // README begins
  let pipeline = try ThumbnailPipeline(.init(cacheDirectory: directory))
  let request = ThumbnailRequest(url, size: PixelSize(400, 400), fit: .cover)
  let thumbnail = try await pipeline.thumbnail(for: request)

  for await result in pipeline.thumbnails(for: requests) {  // many, in bounded memory
    switch result.result {
    case .success(let response): print(response.thumbnail.size, response.origin)
    case .failure(let error): print(error.message)
    }
  }
  // README ends
  #expect(pipeline.cachedThumbnail(for: request.key) == thumbnail)
}

/// The gallery of docs/library.md, compiled and run.
private func libraryGallery(directory: URL, source: String, show: ([GallerySection], SnapshotDiff) -> Void) async throws
{
  // gallery begins
  let pipeline = try ThumbnailPipeline(.init(cacheDirectory: directory))
  let provider = try ProviderSpecification(parsing: source).provider(for: pipeline)  // "unsplash", "folder:Pictures" …
  let layout = try GridLayout(columns: 2, cell: GridSize(200, 200), scale: 2)
  let prefetcher = Prefetcher(pipeline: pipeline, layout: layout)
  let gallery = Gallery(provider: provider, pipeline: pipeline, prefetcher: prefetcher)

  // As the view scrolls: what is in view is made first, then what comes next. The next page is requested in time.
  prefetcher.viewportChanged(to: Viewport(offset: 0, height: 1_200))
  await gallery.search("lake")  // type(_:) instead while somebody types

  // Sections of cells, and what has changed in them. Without a network they come from the cache.
  var shown: [GallerySection] = []
  for await snapshot in gallery.snapshots {
    show(snapshot.sections, SnapshotDiff(from: shown, to: snapshot.sections))
    shown = snapshot.sections
    if !snapshot.content.hasMore { break }
  }

  // A cell's thumbnail: from memory at once if it is there.
  let thumbnail = try await prefetcher.thumbnail(at: 0)
  // gallery ends
  #expect(thumbnail.size == PixelSize(400, 400) && shown == gallery.snapshot.sections)
}

@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
  @Test(arguments: [("README", "README.md"), ("gallery", "docs/library.md")])
  func thePageShowsThisCode(mark: String, page: String) throws {
    let imports = mark == "README" ? "import Thumbnailer\n\n" : "import PhotoSources\nimport Thumbnailer\n\n"
    #expect(try Snippet(mark).isShown(in: page, after: imports))
  }

  @Test func theReadmesExampleRuns() async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let origin = try Origin { _ in .ok(picture) }
    defer { origin.stop() }
    let directory = try TemporaryDirectory()
    let url = origin.url("/a.jpg")
    try await readmeExample(
      directory: directory.url, url: url, requests: [ThumbnailRequest(url, size: PixelSize(100, 100))])
  }
  @Test func theLibrarysGalleryRuns() async throws {
    let directory = try TemporaryDirectory()
    let changes = Recorder<Bool>()
    try await libraryGallery(directory: directory.url, source: "folder:\(TestImages.url("gallery").path)") {
      _, change in
      changes.append(change.isEmpty)
    }
    #expect(changes.values.last == false)
  }
}
