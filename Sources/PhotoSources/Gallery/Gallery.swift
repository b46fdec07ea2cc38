public import HTTPTransport
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
  private let offline: OfflineProvider?
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Duration
  private let hub: LatestValue<GalleryContent>
  private var machine: GalleryMachine
  private var fetches: [Int: Task<Void, Never>] = [:]
  /// The timer for the next retry after a failure.
  private var alarm: (task: Task<Void, Never>, time: Duration)?

  /// A gallery of a source's photos. Nothing is requested before the first search.
  ///
  /// - Parameters:
  ///   - provider: The source.
  ///   - pipeline: Its cache stores the pages, which are shown when the source cannot be reached.
  ///   - clock: Measures the back-off intervals.
  public init(
    provider: any PhotoProvider, pipeline: ThumbnailPipeline, options: Options = Options(),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    // Folders and lists need no store: their photos are local.
    let store = provider.isRemote ? pipeline.pageStore : nil
    self.provider = provider.storingPages(in: store, headers: options.headers)
    offline = store.map { OfflineProvider(of: provider.name, store: $0) }
    self.clock = clock
    now = Self.stopwatch(clock)
    machine = GalleryMachine(options.adapted(to: provider, hasStore: store != nil))
    hub = LatestValue(machine.content)
  }

  deinit {
    alarm?.task.cancel()
    for fetch in fetches.values { fetch.cancel() }
    hub.finish()
  }

  /// The current snapshot and all that follow. A slow consumer gets only the newest one. Each call returns a stream of
  /// its own.
  public nonisolated var snapshots: AsyncStream<GalleryContent> { hub.subscribe() }

  /// The current snapshot.
  public nonisolated var snapshot: GalleryContent { hub.current }

  /// Searches at once. An empty query shows random photos if the source supports it, else all.
  ///
  /// Repeating the current query has no effect, unless it has failed: then it is retried.
  public func search(_ query: String) { handle(.search(query)) }

  /// Reports the index of the last photo in view: the next page is requested when it is one of the last six. To be
  /// called whenever it changes.
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

  /// Feeds the event to the state machine, performs its actions and publishes changes.
  private func handle(_ event: GalleryMachine.Event) {
    for action in machine.handle(event, at: now()) {
      switch action {
      case .fetch(let fetch, let ticket): start(fetch, ticket)
      case .cancel(let ticket): fetches.removeValue(forKey: ticket)?.cancel()
      }
    }
    setAlarm()
    let content = machine.content
    // Equality of identical arrays is O(1), so the cost of a scroll event does not grow with the number of photos.
    if content != hub.current { hub.send(content) }
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
    public var picksRandom = true
    /// The longest back-off interval, unless the source demands a longer one. The first is a second, and each further
    /// one twice as long. Default: 60 s.
    public var longestRetry = Duration.seconds(60)
    /// Whether an unreachable source is retried even if no more photos are needed, so that a view of stored photos
    /// notices when the source is back. Default: false, for no needless requests.
    public var retriesWhileOffline = false
    /// Request headers for the images, by host. Default: none.
    public var headers = HostHeaders()

    /// The next page is requested when one of the last this many photos is in view. Tests set another number.
    var itemsBeforeEnd = 6
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
