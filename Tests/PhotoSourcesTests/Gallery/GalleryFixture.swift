@testable import PhotoSources
@testable import ThumbnailCore
@testable import Thumbnailer

/// A gallery over a copy of Unsplash on loopback, with a real cache.
struct GalleryFixture {
  let directory: TemporaryDirectory
  let unsplash: UnsplashOrigin
  let pipeline: ThumbnailPipeline
  let clock = ManualClock()

  /// A source with so many photos, each with the words `lake` and its number.
  init(photos count: Int = 70) throws {
    let body = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
    let pictures = (0..<count).map {
      UnsplashOrigin.Picture(id: "p\($0)", description: "lake number \($0)", body: body)
    }
    try self.init(UnsplashOrigin(pictures: pictures))
  }

  init(_ unsplash: UnsplashOrigin) throws {
    directory = try TemporaryDirectory()
    self.unsplash = unsplash
    pipeline = try Self.pipeline(in: directory)
  }

  /// A pipeline on the folder, which gives up at the first failure.
  static func pipeline(in directory: TemporaryDirectory) throws -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    configuration.attempts = 1
    return try ThumbnailPipeline(configuration)
  }

  /// The source as a pipeline reaches it.
  func provider(_ pipeline: ThumbnailPipeline? = nil) throws -> any PhotoProvider {
    try ProviderSpecification.service(.unsplash, at: unsplash.baseURL.absoluteString).provider(
      for: pipeline ?? self.pipeline, environment: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])
  }

  /// A gallery, on this pipeline or another.
  func gallery(
    on other: ThumbnailPipeline? = nil, configuring configure: (inout Gallery.Options) -> Void = { _ in }
  ) throws -> Gallery {
    var options = Gallery.Options()
    configure(&options)
    let pipeline = other ?? pipeline
    return Gallery(provider: try provider(pipeline), pipeline: pipeline, options: options, clock: clock)
  }

  /// Another pipeline on the same folder, as after a restart.
  func restarted() async throws -> ThumbnailPipeline {
    await pipeline.flush()
    return try Self.pipeline(in: directory)
  }

  /// Makes thumbnails of photos, as a gallery does that shows them.
  func makeThumbnails(of items: some Sequence<GalleryItem>) async throws {
    for item in items {
      let variant = Variant(size: PixelSize(40, 40), fit: .cover)
      _ = try await pipeline.thumbnail(
        for: ThumbnailRequest(item.photo.source(for: variant.size, fit: variant.fit), variant: variant))
    }
    await pipeline.flush()
  }
}

extension GalleryState {
  /// The name of its case.
  var kind: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}

extension Gallery {
  /// Waits for a snapshot.
  nonisolated func snapshot(
    _ location: SourceLocation = #_sourceLocation, where condition: (GallerySnapshot) -> Bool
  ) async throws -> GallerySnapshot {
    for await snapshot in snapshots where condition(snapshot) { return snapshot }
    let last = snapshot.state
    return try #require(nil, "the gallery ended in the state \(last)", sourceLocation: location)
  }

  /// Waits until nothing is on its way.
  nonisolated func settled(_ location: SourceLocation = #_sourceLocation) async throws -> GallerySnapshot {
    try await snapshot(location) { !$0.state.isLoading && $0.state != .idle }
  }

  /// Searches and waits until nothing is on its way.
  func found(_ query: String) async throws -> GallerySnapshot {
    search(query)
    return try await settled()
  }
}

extension GallerySnapshot {
  var state: GalleryState { content.state }
  var items: [GalleryItem] { content.items }
  var isOffline: Bool { content.isOffline }
}
