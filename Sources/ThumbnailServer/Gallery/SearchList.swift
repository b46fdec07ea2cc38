import HTTPServer
import HTTPTransport
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// The photos of a search, page by page, from the library's `Gallery`.
actor SearchList: ImageList {
  /// The longest pause between retries of an unreachable source. It is short, because a user is looking at the page.
  private static let longestRetry = Duration.seconds(15)

  nonisolated var snapshots: AsyncStream<ListSnapshot> { hub.subscribe() }
  nonisolated var current: ListSnapshot { hub.current }

  private let gallery: Gallery
  private let provider: any PhotoProvider
  private let pipeline: ThumbnailPipeline
  private let headers: HostHeaders
  private let hidden: HiddenPhotos
  private let hub = LatestValue(ListSnapshot())
  private var snapshot = ListSnapshot()
  private var content: GalleryContent?
  /// The shown items: those of the gallery that are not hidden.
  private var items: [GalleryItem] = []
  private var listening: Task<Void, Never>?

  init(
    provider: any PhotoProvider, pipeline: ThumbnailPipeline, headers: HostHeaders, hidden: HiddenPhotos
  ) {
    var options = Gallery.Options()
    options.headers = headers
    options.retriesWhileOffline = true
    options.longestRetry = Self.longestRetry
    gallery = Gallery(provider: provider, pipeline: pipeline, options: options)
    (self.provider, self.pipeline, self.headers, self.hidden) = (provider, pipeline, headers, hidden)
  }

  func search(_ query: String) async {
    if listening == nil {
      listening = Task { [weak self, snapshots = gallery.snapshots] in
        for await snapshot in snapshots { await self?.take(snapshot.content) }
      }
    }
    await gallery.search(query)
  }

  /// A search has the order of its source.
  func setOrder(_ order: FolderIndex.Order) {}

  func retry() async { await gallery.retry() }

  func photos(in range: Range<Int>, version: Int) -> [ListedPhoto]? {
    guard version == snapshot.version else { return nil }
    return items[range.clamped(to: items.indices)].map { ListedPhoto(id: $0.pageID, photo: $0.photo) }
  }

  func positions(of ids: [String], version: Int) -> [String: Int]? {
    guard version == snapshot.version else { return nil }
    let wanted = Set(ids)
    let found = items.enumerated().map { ($1.pageID, $0) }.filter { wanted.contains($0.0) }
    return Dictionary(found) { first, _ in first }
  }

  func hide(_ ids: [String]) async throws(ServerResponse.Problem) {
    try await hidden.insert(ids)
    let items = items.filter { ids.contains($0.pageID) }
    if let content { await take(content) }
    for item in items {
      await pipeline.remove(item.photo.source(for: PixelSize(1, 1), fit: .cover).adding(headers))
    }
  }

  func show(_ ids: [String]?) async -> [String] {
    let known = await hidden.ids
    let shown = ids ?? content?.items.map { $0.pageID }.filter(known.contains) ?? []
    await hidden.remove(shown)
    if let content { await take(content) }
    return shown
  }

  func reportUse(of id: String) async {
    guard let item = items.first(where: { $0.pageID == id }) else { return }
    // A report that fails does not keep the user from the photo.
    try? await provider.reportUse(of: item.photo)
  }

  func showed(_ range: Range<Int>, ahead: Int) async {
    // The gallery counts hidden items, too.
    await gallery.showed(itemAt: min(range.upperBound - 1 + ahead, snapshot.count - 1) + snapshot.hidden)
  }

  func stop() {
    listening?.cancel()
    hub.finish()
  }

  private func take(_ content: GalleryContent) async {
    let hidden = await hidden.ids
    self.content = content
    let shown = hidden.isEmpty ? content.items : content.items.filter { !hidden.contains($0.pageID) }
    let isContinued =
      shown.count >= items.count && content.query == snapshot.query
      && zip(items, shown).allSatisfy { $0.id == $1.id }
    if !isContinued { snapshot.version += 1 }
    items = shown
    snapshot.query = content.query ?? ""
    snapshot.message = content.state.message
    snapshot.offline = content.isOffline
    snapshot.count = shown.count
    snapshot.hidden = content.items.count - shown.count
    snapshot.total = content.total
    snapshot.more = content.hasMore
    snapshot.sections = Self.sections(of: shown)
    snapshot.state =
      switch content.state {
      case .idle: .idle
      case .loading: .loading
      case .loaded: .loaded
      case .loadingNextPage: .loadingNextPage
      case .empty: .empty
      case .failed: .failed
      case .offline: .offline
      }
    hub.send(snapshot)
  }

  /// A section for each round, because stored photos that begin again would look like more of them.
  static func sections(of items: [GalleryItem]) -> [FolderArrangement.Section] {
    var sections: [FolderArrangement.Section] = []
    var round: Int?
    for item in items {
      if item.round != round {
        let title = item.round == 0 ? nil : "That was all that is stored: from the beginning again"
        sections.append(.init(title: title, count: 0))
        round = item.round
      }
      sections[sections.count - 1].count += 1
    }
    return sections
  }
}

extension GalleryItem {
  /// Identifies it in the page, for all visitors: a list's line may hold secrets, so there it is a digest of its source.
  fileprivate var pageID: String {
    photo.line == nil ? "\(id)" : photo.source(for: PixelSize(1, 1), fit: .cover).key.hex
  }
}
