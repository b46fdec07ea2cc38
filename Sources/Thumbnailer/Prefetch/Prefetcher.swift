import Foundation
import Synchronization
public import ThumbnailCore

/// Prefetches the thumbnails of a scrolling grid: the visible ones first, then as far ahead in the direction of the
/// scroll as its speed and the time per image require.
///
/// Set the items of the grid (`setItems`, `append` …) and report the viewport at every scroll event; get a cell's
/// thumbnail with `thumbnail(at:)`, or listen to `events`. Requests for items that have left the window are
/// cancelled, visible items have priority over all others, and nothing that is cached or in flight is requested again.
///
/// All methods may be called from any thread and return at once; `setViewport` takes some microseconds, whatever
/// the number of items and the changes that follow. Requests are started and cancelled, and events sent, shortly
/// afterwards and in order, by a task of the prefetcher. Deallocating the prefetcher cancels its requests, but never
/// those of other callers of the pipeline.
///
///     let prefetcher = Prefetcher(layout: GridLayout(columns: 2, cell: PixelSize(400, 400), scale: 2))
///     prefetcher.setItems(urls: urls)
///     prefetcher.setViewport(Viewport(offset: 4_000, height: 1_200))
///     let thumbnail = try await prefetcher.thumbnail(at: 40)
public final class Prefetcher: Sendable {
  /// The distance that a prefetcher works ahead, and its limits. The defaults suit a grid of photographs.
  public struct Options: Sendable, Hashable {
    /// The least distance that is prefetched ahead of the viewport, in its heights; more in a fast scroll. Default: 1.
    public var screensAhead = 1.0
    /// How much is prefetched behind the viewport, in heights of the viewport. Default: 0.5.
    public var screensBehind = 0.5
    /// The most bytes downloaded for cells outside of the viewport, counted outwards from it: actual downloads for
    /// cells that are ready, and the average per image for the others. Default: 32 MiB.
    package var byteBudget = ByteSize.mebibytes(32)
    /// The most concurrent requests, including visible cells. Nil: as many as the pipeline downloads from one host,
    /// plus one for each decode.
    package var maximumRunning: Int?
    /// The most concurrent requests for cells that are not visible. Nil: two fewer than the pipeline downloads from one
    /// host, so that a cell that becomes visible finds a free slot.
    package var maximumPrefetches: Int?
    /// The length of the list that is needed beyond the viewport, in its heights; with less, `itemsWanted` requests
    /// more. Default: 3.
    package var screensOfItemsAhead = 3.0

    /// The defaults.
    public init() {}
  }

  /// The pipeline that makes the thumbnails.
  package let pipeline: ThumbnailPipeline
  /// The thumbnail variant of all cells.
  package let variant: Variant
  /// The distance that it works ahead, and its limits.
  package let options: Options
  /// The number of items that the list should have so that the viewport does not soon reach its end, sent when it has
  /// fewer: a signal to request the next page of a photo source. For one listener, which gets only the latest number.
  public let itemsWanted: AsyncStream<Int>

  let hub = EventHub<PrefetcherEvent>()
  let itemsWantedContinuation: AsyncStream<Int>.Continuation
  let inbox = ViewportInbox()
  /// Signals changes to the worker.
  let workSignal: AsyncStream<Void>.Continuation
  let state: Mutex<State>

  /// A prefetcher for an empty grid. Nothing is fetched before there are items and a viewport.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline that makes the thumbnails. Default: that of the process.
  ///   - layout: The grid. Its sections are replaced by those of the items.
  ///   - variant: The thumbnail to make of each image. Nil: one that fills a cell.
  ///   - options: The distance to work ahead.
  public init(
    pipeline: ThumbnailPipeline = .shared, layout: GridLayout, variant: Variant? = nil, options: Options = Options()
  ) {
    self.pipeline = pipeline
    self.variant = variant ?? Variant(size: layout.cell, fit: .cover)
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

  /// Sets the current viewport. To be called at every scroll event, and when the view's height changes.
  ///
  /// Only records it. If viewports arrive faster than they are processed, only the last sets the position, but all
  /// count for the speed.
  public func setViewport(_ viewport: Viewport) {
    if inbox.post(viewport) { workSignal.yield() }
  }

  /// The visible items; empty before the first viewport.
  package var visibleItems: Range<Int> {
    state.withLock { state in
      guard let viewport = inbox.latest ?? state.schedule.motion.viewport else { return 0..<0 }
      return state.schedule.layout.items(from: viewport.offset, height: viewport.height)
    }
  }

  /// The layout with the current items.
  package var layout: GridLayout { state.withLock { $0.schedule.layout } }

  /// Applies another layout to the same items, as after a rotation of the device. The thumbnails stay those of
  /// `variant`.
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

  /// The thumbnail of an item if it is in memory. Returns at once, for a cell that becomes visible.
  public func cachedThumbnail(at index: Int) -> Thumbnail? {
    guard let source = try? source(at: index) else { return nil }
    return pipeline.cachedThumbnail(for: CacheKey(source: source.key, variant: variant))
  }

  /// The thumbnail of an item, for a visible cell. Joins the item's running request, and raises its priority.
  ///
  /// Cancelling the task cancels this request; the prefetcher's own request continues while the item is in the window.
  public func thumbnail(at index: Int) async throws(ThumbnailError) -> Thumbnail {
    try await pipeline.thumbnail(
      for: ThumbnailRequest(try source(at: index), variant: variant, priority: .visible))
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

  /// Starts no requests for cells out of view until `resume()`. Running requests and visible cells continue.
  public func pause() { setPaused(true) }

  /// Resumes prefetching after `pause()`.
  public func resume() { setPaused(false) }

  /// Cancels all requests and clears the viewport; the next `setViewport` starts again.
  public func stop() {
    change { state in state.drop(state.schedule.stop()) }
  }

  private func setPaused(_ isPaused: Bool) {
    change { state in state.schedule.setPaused(isPaused) }
  }

  /// A new stream of the events of the items from now on. A listener that falls behind by more than 4,096 events loses
  /// the oldest.
  public var events: AsyncStream<PrefetcherEvent> { events(bufferingNewest: 4096) }

  /// The same with another limit.
  package func events(bufferingNewest limit: Int) -> AsyncStream<PrefetcherEvent> {
    hub.subscribe(bufferingNewest: limit)
  }
}

/// An event of a prefetcher's item. Events come in the order in which they happened; their indices are those of the
/// list at that time.
public enum PrefetcherEvent: Sendable {
  /// The item was requested at this priority.
  case started(index: Int, source: ImageSource, priority: Priority)
  /// The item's thumbnail is in the caches. `ThumbnailResponse.origin` shows whether it was made now.
  case ready(index: Int, source: ImageSource, response: ThumbnailResponse)
  /// The item's request failed. It is repeated when the item has left the window and returns.
  case failed(index: Int, source: ImageSource, error: ThumbnailError)
  /// The item left the window before its thumbnail was ready, and its request was cancelled. If that came too late,
  /// `ready` follows.
  case cancelled(index: Int, source: ImageSource)
  /// Everything in the window is ready or has failed.
  case settled
}
