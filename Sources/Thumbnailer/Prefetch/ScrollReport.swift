/// The result of a scroll: when each cell became visible, and when its thumbnail was ready.
public struct ScrollReport: Sendable, Equatable {
  /// A cell that became visible.
  public struct Cell: Sendable, Equatable {
    /// Its index in the grid, from 0.
    public var item: Int
    /// When its first row of pixels became visible, from the start of the scroll.
    public var inView: Duration
    /// When its thumbnail was ready, possibly before it became visible. Nil if there was none.
    public var ready: Duration?
    /// When it left the view for the first time. Nil if it stayed to the end.
    public var leftView: Duration?
    /// Whether it was visible at the very start.
    public var isOfFirstScreen: Bool
    /// Why there was no thumbnail; nil if there was one.
    public var failure: String?

    /// How long it was visible without its thumbnail; zero if that was ready. Nil if there was none.
    public var wait: Duration? { ready.map { max(.zero, $0 - inView) } }

    /// A cell that became visible.
    public init(
      item: Int, inView: Duration, ready: Duration? = nil, leftView: Duration? = nil, isOfFirstScreen: Bool = false,
      failure: String? = nil
    ) {
      self.item = item
      self.inView = inView
      self.ready = ready
      self.leftView = leftView
      self.isOfFirstScreen = isOfFirstScreen
      self.failure = failure
    }
  }

  /// The cells in the order in which they became visible.
  public var cells: [Cell]
  /// From the start to the end of the scroll, when the final screen was complete.
  public var duration: Duration
  /// When the scroll came to rest.
  public var restsAt: Duration
  /// The bytes received in total.
  public var downloadedBytes: Int
  /// The bytes received for cells that never became visible, including cancelled and failed downloads.
  public var unseenBytes: Int
  /// How long each call of `Prefetcher.viewportChanged` took.
  public var viewportUpdates: [Duration]
  /// The peak memory of the process in bytes, if the system reports it.
  public var peakMemoryBytes: Int?

  /// A report.
  public init(
    cells: [Cell], duration: Duration, restsAt: Duration, downloadedBytes: Int, unseenBytes: Int,
    viewportUpdates: [Duration] = [], peakMemoryBytes: Int? = nil
  ) {
    self.cells = cells
    self.duration = duration
    self.restsAt = restsAt
    self.downloadedBytes = downloadedBytes
    self.unseenBytes = unseenBytes
    self.viewportUpdates = viewportUpdates
    self.peakMemoryBytes = peakMemoryBytes
  }

  /// The cells that were not visible at the start, which a prefetcher could fetch ahead.
  public var cellsAfterFirstScreen: [Cell] { cells.filter { !$0.isOfFirstScreen } }

  /// The share of the cells after the first screen whose thumbnail was ready when they became visible, from 0 to 1. 1
  /// if there are no such cells.
  public var readyOnSight: Double {
    let later = cellsAfterFirstScreen
    guard !later.isEmpty else { return 1 }
    return Double(later.count { $0.wait == .zero }) / Double(later.count)
  }

  /// A percentile of the waits of the cells after the first screen, by the nearest rank. A cell without a thumbnail
  /// waited to the end. Nil if there are no such cells.
  ///
  /// - Parameter share: From 0 to 1; 0.5 is the median.
  public func wait(ofShare share: Double) -> Duration? {
    Self.nearestRank(share, of: cellsAfterFirstScreen.map { $0.wait ?? max(.zero, duration - $0.inView) })
  }

  /// A percentile of the durations of `Prefetcher.viewportChanged`, by the nearest rank. Nil if there were no calls.
  public func viewportUpdate(ofShare share: Double) -> Duration? { Self.nearestRank(share, of: viewportUpdates) }

  private static func nearestRank(_ share: Double, of durations: [Duration]) -> Duration? {
    guard !durations.isEmpty else { return nil }
    let rank = Int((min(1, max(0, share)) * Double(durations.count)).rounded(.up))
    return durations.sorted()[max(1, rank) - 1]
  }

  /// From the end of the scroll until every visible cell has its thumbnail or has failed.
  public var completeAfterRest: Duration { max(.zero, duration - restsAt) }
}
