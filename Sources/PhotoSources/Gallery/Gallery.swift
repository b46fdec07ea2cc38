package import HTTPTransport
import ThumbnailCore
public import Thumbnailer

/// An endless list of photos: requests page after page of a source on demand and publishes snapshots.
///
///     let gallery = Gallery(provider: provider, pipeline: pipeline)
///     await gallery.search("lake")
///     for await snapshot in gallery.snapshots { … }
///
/// While the source cannot be reached, it shows stored pages and, as long as more photos are needed, retries the source
/// with back-off. When the source responds, the search continues where it was. Errors are states and keep the existing
/// photos. Dropping the gallery cancels its work and ends its streams.
public actor Gallery {
  private let provider: any PhotoProvider
  private let pipeline: ThumbnailPipeline
  private let offline: OfflineProvider?
  private let options: Options
  private let prefetcher: Prefetcher?
  private let viewModel: any GalleryViewModel
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Duration
  private let hub: LatestValue<GallerySnapshot>
  private var machine: GalleryMachine
  private var fetches: [Int: Task<Void, Never>] = [:]
  private var typing: Task<Void, Never>?
  private var listening: Task<Void, Never>?
  /// The timer for the next retry after a failure.
  private var alarm: (task: Task<Void, Never>, time: Duration)?
  /// The items that the prefetcher has.
  private var forwarded: [GalleryItem] = []

  /// A gallery of a source's photos. Nothing is requested before the first search.
  ///
  /// - Parameters:
  ///   - provider: The source.
  ///   - pipeline: Its cache stores the pages, and deleted photos are removed from it.
  ///   - prefetcher: Gets the photos as they arrive, one item for each photo of the snapshots, and its demand for more
  ///     items is observed: the view reports its viewport to the prefetcher alone. It serves this gallery only.
  ///   - viewModel: Lays out the content in sections of cells.
  ///   - clock: Measures the debounce and back-off intervals.
  public init(
    provider: any PhotoProvider, pipeline: ThumbnailPipeline, prefetcher: Prefetcher? = nil,
    options: Options = Options(), viewModel: any GalleryViewModel = StandardGalleryViewModel(),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    // Folders and lists need no store: their photos are local.
    let store = provider.isRemote ? pipeline.pageStore : nil
    self.provider = provider.storingPages(in: store, headers: options.headers)
    offline = store.map { OfflineProvider(of: provider.name, store: $0) }
    self.pipeline = pipeline
    self.prefetcher = prefetcher
    self.options = options
    self.viewModel = viewModel
    self.clock = clock
    now = Self.stopwatch(clock)
    machine = GalleryMachine(options.adapted(to: provider, hasStore: store != nil))
    let content = machine.content
    hub = LatestValue(GallerySnapshot(content: content, sections: viewModel.sections(of: content)))
  }

  deinit {
    typing?.cancel()
    listening?.cancel()
    alarm?.task.cancel()
    for fetch in fetches.values { fetch.cancel() }
    hub.finish()
  }

  /// The current snapshot and all that follow. A slow consumer gets only the newest one. Each call returns a stream of
  /// its own.
  public nonisolated var snapshots: AsyncStream<GallerySnapshot> { hub.subscribe() }

  /// The current snapshot.
  public nonisolated var snapshot: GallerySnapshot { hub.current }

  /// Searches at once. An empty query shows random photos if the source supports it, else all.
  ///
  /// Repeating the current query has no effect, unless it has failed: then it is retried.
  public func search(_ query: String) {
    typing?.cancel()
    typing = nil
    handle(.search(query))
  }

  /// Searches once 300 ms have passed without another call. Call it on each keystroke.
  public func type(_ query: String) {
    typing?.cancel()
    typing = Task { [weak self, clock] in
      do { try await clock.sleep(for: .milliseconds(300)) } catch { return }
      await self?.search(typed: query)
    }
  }

  /// Searches, unless another keystroke came before this task ran.
  private func search(typed query: String) {
    guard !Task.isCancelled else { return }
    search(query)
  }

  /// How many photos at the end of the list have the next page requested when one of them is in view.
  static let itemsBeforeEnd = 6

  /// Reports the index of the last photo in view, whenever it changes. If it is one of the last six, the next page is
  /// requested.
  public func showed(itemAt index: Int) { handle(.showed(index)) }

  /// Requests the next page now, unless a request is already in flight.
  ///
  /// - Returns: Whether a request is in flight. False at the end, and during back-off after a failure.
  @discardableResult
  public func loadNextPage() -> Bool {
    handle(.next)
    return machine.isLoading
  }

  /// Retries after a failure without waiting for the back-off interval.
  public func retry() { handle(.retry) }

  /// Repeats the search from the first page. The present photos stay until that page arrives.
  public func refresh() { handle(.refresh) }

  /// Removes a photo from the gallery, for the gallery's lifetime, and from the caches. Returns when that is done.
  public func delete(_ id: GalleryItem.ID) async {
    for photo in handle(.delete(id)) {
      // All sizes of a photo have the same key.
      let source = photo.source(for: PixelSize(1, 1), fit: .cover).adding(options.headers)
      await pipeline.remove(source)
      await pipeline.pageStore?.removePhoto(source.key)
    }
  }

  /// Feeds the event to the state machine, performs its actions and publishes changes. Returns the photos to remove.
  @discardableResult
  private func handle(_ event: GalleryMachine.Event) -> [Photo] {
    var removed: [Photo] = []
    for action in machine.handle(event, at: now()) {
      switch action {
      case .fetch(let fetch, let ticket): start(fetch, ticket)
      case .cancel(let ticket): fetches.removeValue(forKey: ticket)?.cancel()
      case .remove(let photo): removed.append(photo)
      }
    }
    setAlarm()
    let content = machine.content
    // Equality of identical arrays is O(1), so the cost of a scroll event does not grow with the number of photos.
    if content != hub.current.content {
      forward(content.items)
      hub.send(GallerySnapshot(content: content, sections: viewModel.sections(of: content)))
    }
    return removed
  }

  /// Sets the timer for the state machine's next wake time.
  private func setAlarm() {
    let wakeTime = machine.wakeTime
    guard wakeTime != alarm?.time else { return }
    alarm?.task.cancel()
    alarm = wakeTime.map { time in
      let task = Task { [weak self, clock, pause = max(.zero, time - now())] in
        do { try await clock.sleep(for: pause) } catch { return }
        await self?.ring(at: time)
      }
      return (task, time)
    }
  }

  private func ring(at time: Duration) {
    guard alarm?.time == time else { return }
    alarm = nil
    handle(.awake)
  }

  /// Hands the items to the prefetcher and observes how many it wants.
  private func forward(_ items: [GalleryItem]) {
    guard let prefetcher else { return }
    if listening == nil {
      listening = Task { [weak self, wishes = prefetcher.itemsWanted] in
        for await count in wishes { await self?.handle(.wanted(items: count)) }
      }
    }
    // The common prefix stays in the prefetcher, so that its work for these items continues.
    let kept = zip(forwarded, items).prefix { $0.id == $1.id }.count
    if kept == forwarded.count {
      if kept < items.count { prefetcher.append(contentsOf: items[kept...].map { source(of: $0, for: prefetcher) }) }
    } else if forwarded.count == items.count + 1,
      zip(forwarded[(kept + 1)...], items[kept...]).allSatisfy({ $0.id == $1.id })
    {
      prefetcher.remove(at: kept)
    } else {
      prefetcher.setItems(items.map { source(of: $0, for: prefetcher) })
    }
    forwarded = items
  }

  /// The smallest form of a photo that is large enough for the prefetcher's thumbnails.
  private func source(of item: GalleryItem, for prefetcher: Prefetcher) -> ImageSource {
    item.photo.source(for: [prefetcher.variant]).adding(options.headers)
  }

  private func start(_ fetch: GalleryFetch, _ ticket: Int) {
    fetches[ticket] = Task { [weak self, provider, offline] in
      let response = await fetch.response(from: provider, or: offline)
      await self?.take(response, ticket)
    }
  }

  private func take(_ response: GalleryResponse, _ ticket: Int) {
    guard fetches.removeValue(forKey: ticket) != nil else { return }
    handle(.response(response, ticket: ticket))
  }

  /// A function that returns the time since its creation.
  private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }
}

extension GalleryFetch {
  /// Performs the request, at the source or in the store.
  func response(from provider: any PhotoProvider, or offline: OfflineProvider?) async -> GalleryResponse {
    do throws(ProviderError) {
      switch self {
      case .page(let query, let cursor):
        return .live(.success(try await provider.search(query, at: cursor)))
      case .random(let count):
        return .live(.success(PhotoPage(photos: try await provider.random(count: count), next: nil)))
      case .stored(let query, let cursor?):
        // The page size is fixed within a search.
        return .stored(await offline?.storedPage(of: query, at: cursor), pageSize: query.pageSize)
      case .stored(let query, nil):
        let first = await offline?.storedFirstPage(of: query)
        return .stored(first?.page, pageSize: first?.pageSize ?? query.pageSize)
      case .cached(let mark, let count):
        let (photos, next) = await offline?.cachedPhotos(after: mark, count: count) ?? ([], nil)
        return .cached(photos, next: next)
      }
    } catch {
      return .live(.failure(error))
    }
  }
}

extension Gallery {
  /// The settings of a gallery.
  public struct Options: Sendable {
    /// Photos a page. Default: 30.
    public var pageSize = 30
    /// Whether an empty query shows random photos, if the source supports it. Default: true.
    package var picksRandom = true
    /// The longest back-off interval, unless the source demands a longer one. The first is a second, and each further
    /// one twice as long. Default: 60 s.
    package var longestRetry = Duration.seconds(60)
    /// Whether an unreachable source is retried even if no more photos are needed, so that a view of stored photos
    /// notices when the source is back. Default: false, for no needless requests.
    package var retriesWhileOffline = false
    /// Request headers for the images, by host. Default: none.
    package var headers = HostHeaders()

    /// The name of the source.
    var provider = ""
    /// Whether there is a page store.
    var hasStore = false
    /// Whether the source is an `OfflineProvider`, which never uses the network.
    var isOffline = false

    /// The defaults.
    public init() {}

    /// These options for a source: within its capabilities.
    func adapted(to provider: any PhotoProvider, hasStore: Bool) -> Options {
      var options = self
      options.provider = provider.name
      options.pageSize = max(1, min(pageSize, provider.capabilities.largestPageSize ?? .max))
      options.picksRandom = picksRandom && provider.capabilities.picksRandom
      options.hasStore = hasStore
      options.isOffline = provider is OfflineProvider
      return options
    }
  }
}
