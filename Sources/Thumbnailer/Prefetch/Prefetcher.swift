import Synchronization
public import ThumbnailCore

/// Keeps the thumbnails of a scrolling grid ready: those in view first, then as far ahead in the direction of travel as
/// the speed of the scroll and the time that a picture takes ask.
///
/// Tell it what the grid shows (`setItems`, `append` …) and where the view is, at every scroll event; take a cell's
/// thumbnail with `thumbnail(at:)`, or listen to `events()`. What the view has left behind is dropped, what comes into
/// view overtakes everything else, and nothing that is there or under way is asked for again.
///
/// All methods may be called from any thread and return at once; `viewportChanged` takes some microseconds, whatever the
/// number of items and whatever follows from it. What follows is begun, dropped and told moments later, in order, by a
/// task of the prefetcher's own. Dropping the prefetcher cancels its work. What others asked the pipeline for is never
/// touched.
///
///     let layout = try GridLayout(columns: 2, cell: GridSize(200, 200), scale: 2)
///     let prefetcher = Prefetcher(pipeline: pipeline, layout: layout)
///     prefetcher.setItems(urls.map { ImageSource($0) })
///     prefetcher.viewportChanged(to: Viewport(offset: 4_000, height: 1_200))
///     let thumbnail = try await prefetcher.thumbnail(at: 40)
public final class Prefetcher: Sendable {
  /// Where the thumbnails come from.
  public let pipeline: ThumbnailPipeline
  /// The thumbnail that every cell shows of its picture.
  public let variant: Variant
  /// How far ahead it works.
  public let options: Options
  /// How many items the list should have for the view not to reach its end soon, told whenever it has fewer: whoever
  /// fetches the pages of a photo source asks for the next one then. For one listener; it gets the latest number only.
  public let itemsWanted: AsyncStream<Int>

  let hub = EventHub<PrefetcherEvent>()
  let itemsWantedContinuation: AsyncStream<Int>.Continuation
  let inbox = ViewportInbox()
  /// Tells the worker that something has changed.
  let workSignal: AsyncStream<Void>.Continuation
  let state: Mutex<State>

  /// A prefetcher for an empty grid. Nothing is fetched before there are items and a viewport.
  ///
  /// - Parameters:
  ///   - pipeline: Where the thumbnails come from.
  ///   - layout: The grid. Its sections give way to those of the items.
  ///   - variant: The thumbnail to make of each picture. Nil: one that fills a cell.
  ///   - options: How far ahead to work.
  public init(
    pipeline: ThumbnailPipeline, layout: GridLayout, variant: Variant? = nil, options: Options = Options()
  ) {
    self.pipeline = pipeline
    self.variant = variant ?? Variant(size: layout.cellPixels)
    self.options = options
    (itemsWanted, itemsWantedContinuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
    let signals: AsyncStream<Void>
    (signals, workSignal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    var empty = layout
    empty.setSections([GridLayout.Section(itemCount: 0, headerHeight: layout.sections.first?.headerHeight ?? 0)])
    state = Mutex(
      State(
        schedule: PrefetchSchedule(
          layout: empty, options: options, limits: .init(options, pipeline.configuration))))
    Self.startWorker(of: self, at: signals)
  }

  deinit {
    abandon()
    workSignal.finish()
    hub.finish()
    itemsWantedContinuation.finish()
  }

  // MARK: The view

  /// Tells where the view is now. To be called at every scroll event, and when the view changes its height.
  ///
  /// Only takes note of it. Of viewports that follow each other faster than they are looked at, the last counts, and all
  /// of them for the speed.
  public func viewportChanged(to viewport: Viewport) {
    if inbox.post(viewport) { workSignal.yield() }
  }

  /// The items in view; empty before the first viewport.
  public var visibleItems: Range<Int> {
    state.withLock { state in
      guard let viewport = inbox.latest ?? state.schedule.motion.viewport else { return 0..<0 }
      return state.schedule.layout.items(from: viewport.offset, height: viewport.height)
    }
  }

  /// The grid with the items that it has.
  public var layout: GridLayout { state.withLock { $0.schedule.layout } }

  /// Lays the same items out in another grid, as after a turn of the device. The thumbnails stay those of `variant`.
  public func setLayout(_ layout: GridLayout) {
    change { state in
      state.schedule.changeLayout { current in
        let sections = current.sections
        current = layout
        current.setSections(sections)
      }
    }
  }

  // MARK: Thumbnails

  /// The thumbnail of an item if it is in memory, at once: what a cell shows as it comes into view.
  public func cachedThumbnail(at index: Int) -> Thumbnail? {
    guard let source = try? source(at: index) else { return nil }
    return pipeline.cachedThumbnail(for: CacheKey(source: source.key, variant: variant))
  }

  /// The thumbnail of an item, for a cell that shows it now. Joins the work that runs for it, and makes it urgent.
  ///
  /// Cancelling the task gives the request up; the prefetcher's own work for the item goes on while it is in the window.
  public func thumbnail(at index: Int) async throws(ThumbnailError) -> Thumbnail {
    try await pipeline.thumbnail(for: ThumbnailRequest(source(at: index), variant: variant, priority: .visible))
  }

  private func source(at index: Int) throws(ThumbnailError) -> ImageSource {
    let (item, count) = state.withLock { state in
      (state.items.indices.contains(index) ? state.items[index] : nil, state.items.count)
    }
    if let item { return item }
    throw .invalidRequest(
      reason: (0..<count).contains(index)
        ? "item \(index) has no picture" : "there is no item \(index): the list has \(count)")
  }

  // MARK: Control

  /// Begins nothing more for cells that are not in view, until `resume()`. What runs goes on, and so do cells in view.
  public func pause() { setPaused(true) }

  /// Goes on after `pause()`.
  public func resume() { setPaused(false) }

  /// Whether `pause()` was called last.
  public var isPaused: Bool { state.withLock { $0.schedule.isPaused } }

  /// Drops all work and forgets the viewport; the next `viewportChanged` begins anew.
  public func stop() {
    change { state in state.drop(state.schedule.stop()) }
  }

  private func setPaused(_ isPaused: Bool) {
    change { state in state.schedule.setPaused(isPaused) }
  }

  /// What becomes of the items from now on. A listener that falls behind by more than `limit` events loses the oldest.
  public func events(bufferingNewest limit: Int = 4096) -> AsyncStream<PrefetcherEvent> {
    hub.subscribe(bufferingNewest: limit)
  }

  /// Returns when everything that the window asks for is there or has failed, or when the calling task is cancelled.
  public func waitUntilSettled() async {
    guard let shot = settlingWaiter() else { return }
    _ = await shot.wait { [weak self] in
      self?.removeSettlingWaiter(shot)
      shot.resume(with: .success(()))
    }
  }
}
