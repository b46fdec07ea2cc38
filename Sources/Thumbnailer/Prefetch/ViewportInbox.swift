import Synchronization

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
