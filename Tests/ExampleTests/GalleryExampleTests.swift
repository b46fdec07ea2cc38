import PhotoSources
import Thumbnailer

import TestSupport

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

@Suite(.timeLimit(.minutes(5))) struct GalleryExampleTests {
  @Test func theArticleShowsThisCode() throws {
    let page = "Sources/Thumbnailer/Thumbnailer.docc/Galleries.md"
    #expect(try Snippet("gallery").isShown(in: page, after: "import PhotoSources\nimport Thumbnailer\n\n"))
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
