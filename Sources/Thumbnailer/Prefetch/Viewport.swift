import Synchronization

/// The visible part of a scrolling content at one moment.
public struct Viewport: Sendable, Hashable {
  /// The distance from the upper edge of the content to that of the view, in points. Negative, or beyond the content,
  /// during overscroll.
  package var offset: Double
  /// The height of the view, in points.
  package var height: Double
  /// The time of the scroll event. Speeds are computed from successive viewports.
  package var time: ContinuousClock.Instant

  /// A viewport; values that are not finite are replaced by 0.
  public init(offset: Double, height: Double, time: ContinuousClock.Instant = .now) {
    self.offset = offset.isFinite ? offset : 0
    self.height = height.isFinite ? max(0, height) : 0
    self.time = time
  }

  /// The lower edge of the view, in points.
  package var bottom: Double { offset + height }
}

/// The queue of viewports that a prefetcher has not processed yet.
///
/// It has its own lock, held only to add or take viewports, so that the scrolling thread never waits for the
/// prefetcher's planning.
final class ViewportInbox: Sendable {
  /// The most viewports kept: half a second of scrolling. Beyond that the oldest are dropped as obsolete.
  static let capacity = 32

  private let viewports = Mutex<[Viewport]>([])

  /// Adds a viewport. True if the queue was empty: then the worker must be signalled.
  func post(_ viewport: Viewport) -> Bool {
    viewports.withLock { viewports in
      if viewports.count == Self.capacity { viewports.removeFirst() }
      viewports.append(viewport)
      return viewports.count == 1
    }
  }

  /// Takes all viewports, in order.
  func takeAll() -> [Viewport] {
    viewports.withLock { viewports in
      defer { viewports = [] }
      return viewports
    }
  }

  /// The latest viewport in the queue.
  var latest: Viewport? { viewports.withLock(\.last) }
}
