import Synchronization

/// The viewports that a prefetcher was told of and has not looked at yet.
///
/// With a lock of its own, which nobody holds for longer than it takes to put a viewport in or to take all out: whoever
/// scrolls never waits for the prefetcher's plans.
final class ViewportInbox: Sendable {
  /// The most that are kept: half a second of scrolling. Beyond that the oldest go, since the view has long moved on.
  static let capacity = 32

  private let viewports = Mutex<[Viewport]>([])

  /// Puts a viewport in. True when it is the first one since all were taken out: somebody has to be told then.
  func post(_ viewport: Viewport) -> Bool {
    viewports.withLock { viewports in
      if viewports.count == Self.capacity { viewports.removeFirst() }
      viewports.append(viewport)
      return viewports.count == 1
    }
  }

  /// Takes out all viewports, in their order.
  func takeAll() -> [Viewport] {
    viewports.withLock { viewports in
      defer { viewports = [] }
      return viewports
    }
  }

  /// The viewport that came last and was not taken out.
  var latest: Viewport? { viewports.withLock(\.last) }
}
