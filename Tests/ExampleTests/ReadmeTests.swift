import PhotoSources
import Thumbnailer

import TestSupport

/// The README's example of the library, compiled and run. The lines between the marks are the README's, after the line
/// that takes the shared pipeline, whose cache is the user's.
private func readmeExample(pipeline: ThumbnailPipeline, url: URL, requests: [ThumbnailRequest]) async throws {
  // README begins
  let thumbnail = try await pipeline.thumbnail(for: url, size: 400)  // cropped to a square: fit is .cover

  for await (request, result) in pipeline.thumbnails(for: requests) {  // many, in bounded memory
    switch result {
    case .success(let response): print(response.thumbnail.size, response.origin)
    case .failure(let error): print(request.source.url, error.message)
    }
  }
  // README ends
  #expect(pipeline.cachedThumbnail(for: ThumbnailRequest(url, size: 400).key) == thumbnail)
}

/// The gallery of the article on galleries, compiled and run.
private func libraryGallery(directory: URL, source: String, show: ([GallerySection], SnapshotDiff) -> Void) async throws
{
  // gallery begins
  let pipeline = try ThumbnailPipeline(.init(cacheDirectory: directory))
  let provider = try ProviderSpecification(parsing: source).provider(for: pipeline)  // "unsplash", "folder:Pictures" …
  let layout = GridLayout(columns: 2, cell: PixelSize(400, 400), scale: 2)
  let prefetcher = Prefetcher(pipeline: pipeline, layout: layout)
  let gallery = Gallery(provider: provider, pipeline: pipeline, prefetcher: prefetcher)

  // As the view scrolls: what is in view is made first, then what comes next. The next page is requested in time.
  prefetcher.setViewport(Viewport(offset: 0, height: 1_200))
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
  @Test(arguments: [("README", "README.md"), ("gallery", "Sources/Thumbnailer/Thumbnailer.docc/Galleries.md")])
  func thePageShowsThisCode(mark: String, page: String) throws {
    let imports =
      mark == "README"
      ? "import Thumbnailer\n\nlet pipeline = ThumbnailPipeline.shared\n"
      : "import PhotoSources\nimport Thumbnailer\n\n"
    #expect(try Snippet(mark).isShown(in: page, after: imports))
  }

  /// The gate builds and runs them, and the tutorials show these files.
  @Test(arguments: ["thumbnail", "folder", "grid"])
  func eachExampleIsOneFileOfAtMostEightyLinesThatATutorialShows(name: String) throws {
    let root = URL(fileURLWithPath: #filePath, isDirectory: false).appending(path: "../../..").standardized
    let example = root.appending(path: "Examples/\(name)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: example.path) == ["main.swift"])
    let code = try String(contentsOf: example.appending(path: "main.swift"), encoding: .utf8)
    #expect(code.split(separator: "\n", omittingEmptySubsequences: false).count <= 81)
    let catalogue = root.appending(path: "Sources/Thumbnailer/Thumbnailer.docc")
    #expect(try String(contentsOf: catalogue.appending(path: "Resources/\(name).swift"), encoding: .utf8) == code)
    let tutorials = try FileManager.default.contentsOfDirectory(atPath: catalogue.path).filter {
      $0.hasSuffix(".tutorial")
    }
    #expect(
      try tutorials.contains {
        try String(contentsOf: catalogue.appending(path: $0), encoding: .utf8).contains("file: \"\(name).swift\"")
      })
  }

  @Test func theReadmesExampleRuns() async throws {
    let origin = try Origin.picture()
    defer { origin.stop() }
    let directory = try TemporaryDirectory()
    let url = origin.url("/a.jpg")
    try await readmeExample(
      pipeline: ThumbnailPipeline(.init(cacheDirectory: directory.url)), url: url,
      requests: [ThumbnailRequest(url, size: 100)])
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
