/// The result of a scroll: when each cell became visible, and when its thumbnail was ready.
struct ScrollReport: Sendable, Equatable {
  /// A cell that became visible.
  struct Cell: Sendable, Equatable {
    /// Its index in the grid, from 0.
    var item: Int
    /// When its first row of pixels became visible, from the start of the scroll.
    var inView: Duration
    /// When its thumbnail was ready, possibly before it became visible. Nil if there was none.
    var ready: Duration?
    /// When it left the view for the first time. Nil if it stayed to the end.
    var leftView: Duration?
    /// Whether it was visible at the very start.
    var isOfFirstScreen = false
    /// Whether it was visible after the first screen with nothing to show at all, at the end of a frame.
    var wasEmpty = false
    /// Why there was no thumbnail; nil if there was one.
    var failure: String?

    /// How long it was visible without its thumbnail; zero if that was ready. Nil if there was none.
    var wait: Duration? { ready.map { max(.zero, $0 - inView) } }
  }

  /// The cells in the order in which they became visible.
  var cells: [Cell]
  /// From the start to the end of the scroll, when the final screen was complete.
  var duration: Duration
  /// When the scroll came to rest.
  var restsAt: Duration
  /// The bytes received in total.
  var downloadedBytes: Int
  /// The bytes received for cells that never became visible, including cancelled and failed downloads.
  var unseenBytes: Int
  /// How long each call of `Prefetcher.setViewport` took.
  var viewportUpdates: [Duration] = []
  /// The peak memory of the process in bytes, if the system reports it.
  var peakMemoryBytes: Int?

  /// The cells that were not visible at the start, which a prefetcher could fetch ahead.
  var cellsAfterFirstScreen: [Cell] { cells.filter { !$0.isOfFirstScreen } }

  /// The share of the cells after the first screen whose thumbnail was ready when they became visible, from 0 to 1. 1
  /// if there are no such cells.
  var readyOnSight: Double {
    let later = cellsAfterFirstScreen
    guard !later.isEmpty else { return 1 }
    return Double(later.count { $0.wait == .zero }) / Double(later.count)
  }

  /// The share of all cells that were visible after the first screen with nothing to show, from 0 to 1.
  var emptyInView: Double {
    cells.isEmpty ? 0 : Double(cells.count { $0.wasEmpty }) / Double(cells.count)
  }

  /// A percentile of the waits of the cells after the first screen, by the nearest rank. A cell without a thumbnail
  /// waited to the end. Nil if there are no such cells.
  ///
  /// - Parameter share: From 0 to 1; 0.5 is the median.
  func wait(ofShare share: Double) -> Duration? {
    Self.nearestRank(share, of: cellsAfterFirstScreen.map { $0.wait ?? max(.zero, duration - $0.inView) })
  }

  /// A percentile of the durations of `Prefetcher.setViewport`, by the nearest rank. Nil if there were no calls.
  func viewportUpdate(ofShare share: Double) -> Duration? { Self.nearestRank(share, of: viewportUpdates) }

  private static func nearestRank(_ share: Double, of durations: [Duration]) -> Duration? {
    guard !durations.isEmpty else { return nil }
    let rank = Int((min(1, max(0, share)) * Double(durations.count)).rounded(.up))
    return durations.sorted()[max(1, rank) - 1]
  }

  /// From the end of the scroll until every visible cell has its thumbnail or has failed.
  var completeAfterRest: Duration { max(.zero, duration - restsAt) }
}
