import HTTPTransport
import ThumbnailCore
public import Thumbnailer

/// An endless list of photos: asks a source for page after page as they are wanted, and tells what there is to show.
///
///     let gallery = Gallery(provider: provider, pipeline: pipeline)
///     await gallery.search("lake")
///     for await snapshot in gallery.snapshots { … }
///
/// Without a network it shows what is stored, and goes on where it was when the source answers again: while more is wanted
/// the source is asked from time to time. Errors are states, not ends: what was there stays. Work stops when the gallery
/// is dropped, and its streams end.
public actor Gallery {
  private let provider: any PhotoProvider
  private let pipeline: ThumbnailPipeline
  private let offline: OfflineProvider?
  private let options: Options
  private let prefetcher: Prefetcher?
  private let viewModel: any GalleryViewModel
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Duration
  private let hub: SnapshotHub
  private var machine: GalleryMachine
  private var fetches: [Int: Task<Void, Never>] = [:]
  private var typing: Task<Void, Never>?
  private var listening: Task<Void, Never>?
  /// What waits until a source that failed may be asked again.
  private var alarm: (task: Task<Void, Never>, time: Duration)?
  /// The photos that the prefetcher has.
  private var forwarded: [GalleryItem] = []

  /// A gallery of a source's photos. Nothing is asked for before the first search.
  ///
  /// - Parameters:
  ///   - provider: The source.
  ///   - pipeline: Whose cache keeps the pages, and loses what is deleted.
  ///   - prefetcher: Gets the photos as they come, one item for each photo of the snapshots, and is heard when it wants
  ///     more of them: the view has to tell where it is to the prefetcher alone. It serves this one gallery.
  ///   - viewModel: Lays out what there is in sections of cells.
  ///   - clock: Measures the pauses after keystrokes and failures.
  public init(
    provider: any PhotoProvider, pipeline: ThumbnailPipeline, prefetcher: Prefetcher? = nil,
    options: Options = Options(), viewModel: any GalleryViewModel = StandardGalleryViewModel(),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    // A source that needs no store has none: its photos are here.
    let store = options.storesPages && provider.isRemote ? pipeline.pageStore : nil
    self.provider = provider.storingPages(in: store, headers: options.headers)
    offline = store.map { OfflineProvider(of: provider, store: $0) }
    self.pipeline = pipeline
    self.prefetcher = prefetcher
    self.options = options
    self.viewModel = viewModel
    self.clock = clock
    now = Self.stopwatch(clock)
    machine = GalleryMachine(.init(options, provider: provider, hasStore: store != nil))
    let content = machine.content
    hub = SnapshotHub(GallerySnapshot(content: content, sections: viewModel.sections(of: content)))
  }

  deinit {
    typing?.cancel()
    listening?.cancel()
    alarm?.task.cancel()
    for fetch in fetches.values { fetch.cancel() }
    hub.finish()
  }

  /// What there is to show, from now on, beginning with how it is now. Whoever is slow gets the newest snapshot and
  /// misses those in between. Each call gives a stream of its own.
  public nonisolated var snapshots: AsyncStream<GallerySnapshot> { hub.subscribe() }

  /// What there is to show now.
  public nonisolated var snapshot: GallerySnapshot { hub.latest }

  /// Searches at once. Without words, shows photos by chance where the source can pick them, else all.
  ///
  /// Words that were searched for already change nothing, unless the source had failed: then it is asked again.
  public func search(_ query: String) {
    typing?.cancel()
    typing = nil
    handle(.search(query))
  }

  /// Searches once nobody has typed for a while, as `Options.typingPause` says. To be called with each keystroke.
  public func type(_ query: String) {
    typing?.cancel()
    typing = Task { [weak self, clock, pause = options.typingPause] in
      do { try await clock.sleep(for: pause) } catch { return }
      await self?.search(typed: query)
    }
  }

  /// Searches, unless somebody has typed on before it was the turn of this task.
  private func search(typed query: String) {
    guard !Task.isCancelled else { return }
    search(query)
  }

  /// Tells what is in view, so that the next page can be asked for in time. To be called as it changes.
  public func viewportChanged(to viewport: GalleryViewport) { handle(.viewport(viewport)) }

  /// Tells the number of the last photo in view, counted from 0.
  public func showed(itemAt index: Int) { handle(.viewport(GalleryViewport(lastVisibleItem: index))) }

  /// Asks for the next page now. One that is on its way is not asked for twice.
  ///
  /// - Returns: Whether anything is on its way. False at the end, and while the source is left alone after a failure.
  @discardableResult
  public func loadNextPage() -> Bool {
    handle(.next)
    return machine.isLoading
  }

  /// The view came, or went away: see `Options.loadsWhileHidden`.
  public func setVisible(_ isVisible: Bool) { handle(.shown(isVisible)) }

  /// Asks again after a failure, without waiting any longer.
  public func retry() { handle(.retry) }

  /// Searches for the same words from the first page. What is there stays until the page has come.
  public func refresh() { handle(.refresh) }

  /// Takes a photo out of the gallery, for as long as the gallery lives, and out of the caches. Returns when that is done.
  public func delete(_ id: GalleryItem.ID) async {
    for photo in handle(.delete(id)) {
      // All sizes of a photo have one key.
      let source = photo.source(for: PixelSize(1, 1), fit: .cover).adding(options.headers)
      await pipeline.remove(source)
      await pipeline.pageStore?.removePhoto(source.key)
    }
  }

  /// Lets the machine decide, does what it says, and tells what has changed. Returns the photos to remove.
  @discardableResult
  private func handle(_ event: GalleryMachine.Event) -> [Photo] {
    var removed: [Photo] = []
    // Another source may stand in for the one that was meant.
    machine.provider = provider.name
    for action in machine.handle(event, at: now()) {
      switch action {
      case .fetch(let fetch, let ticket): start(fetch, ticket)
      case .cancel(let ticket): fetches.removeValue(forKey: ticket)?.cancel()
      case .remove(let photo): removed.append(photo)
      }
    }
    setAlarm()
    let content = machine.content
    // Arrays that are one and the same are not looked through: a scroll event costs the same however many photos there are.
    if content != hub.latest.content {
      forward(content.items)
      hub.send(GallerySnapshot(content: content, sections: viewModel.sections(of: content)))
    }
    return removed
  }

  /// Sees to it that the machine hears when its time has come.
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

  /// Tells the prefetcher which photos there are, and listens to how many it wants.
  private func forward(_ items: [GalleryItem]) {
    guard let prefetcher else { return }
    if listening == nil {
      listening = Task { [weak self, wishes = prefetcher.itemsWanted] in
        for await count in wishes { await self?.want(items: count) }
      }
    }
    // The photos that the prefetcher has are let go only where they are others: its work for them goes on.
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

  private func want(items count: Int) { handle(.wanted(items: count)) }

  private func start(_ fetch: GalleryFetch, _ ticket: Int) {
    fetches[ticket] = Task { [weak self, provider, offline] in
      let answer = await fetch.answer(from: provider, or: offline)
      await self?.take(answer, ticket)
    }
  }

  private func take(_ answer: GalleryResponse, _ ticket: Int) {
    guard fetches.removeValue(forKey: ticket) != nil else { return }
    handle(.answer(answer, ticket: ticket))
  }

  /// Tells the time since it was made.
  private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }
}

extension GalleryFetch {
  /// Asks the source, or the store.
  func answer(from provider: any PhotoProvider, or offline: OfflineProvider?) async -> GalleryResponse {
    switch self {
    case .page(let query, let cursor):
      do throws(ProviderError) {
        return .live(.success(try await provider.search(query, at: cursor)))
      } catch {
        return .live(.failure(error))
      }
    case .random(let count):
      do throws(ProviderError) {
        return .live(.success(PhotoPage(photos: try await provider.random(count: count), next: nil)))
      } catch {
        return .live(.failure(error))
      }
    case .stored(let query, let cursor):
      // Within a search the page size is settled.
      if let cursor {
        return .stored(await offline?.storedPage(of: query, at: cursor), pageSize: query.pageSize)
      }
      let first = await offline?.storedFirstPage(of: query)
      return .stored(first?.page, pageSize: first?.pageSize ?? query.pageSize)
    case .cached(let mark, let count):
      let (photos, next) = await offline?.cachedPhotos(after: mark, count: count) ?? ([], nil)
      return .cached(photos, next: next)
    }
  }
}
