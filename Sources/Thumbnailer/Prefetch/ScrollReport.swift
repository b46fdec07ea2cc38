/// What became of the cells in the course of a scroll: when each came into view, and when its thumbnail was there.
public struct ScrollReport: Sendable, Equatable {
  /// One cell that came into view.
  public struct Cell: Sendable, Equatable {
    /// Its place in the grid, from 0.
    public var item: Int
    /// When its first row of pixels came into view, from the beginning of the scroll.
    public var inView: Duration
    /// When its thumbnail was there, be it before it came into view. Nil where there was none to the end.
    public var ready: Duration?
    /// When it had left the view, for the first time. Nil where it stayed to the end.
    public var leftView: Duration?
    /// Whether it belongs to what was on the screen at the very beginning.
    public var isOfFirstScreen: Bool
    /// Why there was no thumbnail, where there was none.
    public var failure: String?

    /// How long it was in view without its thumbnail; zero when that was there. Nil where there was none to the end.
    public var wait: Duration? { ready.map { max(.zero, $0 - inView) } }

    /// A cell that came into view.
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

  /// The cells in the order in which they came into view.
  public var cells: [Cell]
  /// From the beginning to the end of the scroll, when the screen on which it rests was complete.
  public var duration: Duration
  /// When the scroll came to rest.
  public var restsAt: Duration
  /// What was received in all, in bytes.
  public var downloadedBytes: Int
  /// What of that was received for cells that never came into view, in bytes. Broken-off downloads, and those of pictures
  /// that failed, are included.
  public var unseenBytes: Int
  /// How long each call of `Prefetcher.viewportChanged` took.
  public var viewportUpdates: [Duration]
  /// The largest number of bytes the process has had in memory, where the system tells.
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

  /// The cells that were not on the screen from the beginning: nobody can have fetched those ahead.
  public var cellsAfterFirstScreen: [Cell] { cells.filter { !$0.isOfFirstScreen } }

  /// The share of the cells after the first screen whose thumbnail was there when they came into view, from 0 to 1. 1 where
  /// there are none.
  public var readyOnSight: Double {
    let later = cellsAfterFirstScreen
    guard !later.isEmpty else { return 1 }
    return Double(later.count { $0.wait == .zero }) / Double(later.count)
  }

  /// The wait that a share of the cells after the first screen did not exceed, by the nearest rank. A cell without a
  /// thumbnail waited to the end. Nil where there are no cells.
  ///
  /// - Parameter share: From 0 to 1; 0.5 is the median.
  public func wait(ofShare share: Double) -> Duration? {
    Self.nearestRank(share, of: cellsAfterFirstScreen.map { $0.wait ?? max(.zero, duration - $0.inView) })
  }

  /// The time that a share of the calls of `Prefetcher.viewportChanged` did not exceed, by the nearest rank. Nil where
  /// there were none.
  public func viewportUpdate(ofShare share: Double) -> Duration? { Self.nearestRank(share, of: viewportUpdates) }

  private static func nearestRank(_ share: Double, of durations: [Duration]) -> Duration? {
    guard !durations.isEmpty else { return nil }
    let rank = Int((min(1, max(0, share)) * Double(durations.count)).rounded(.up))
    return durations.sorted()[max(1, rank) - 1]
  }

  /// From the moment the scroll rests until every cell in view has its thumbnail or has failed.
  public var completeAfterRest: Duration { max(.zero, duration - restsAt) }
}
