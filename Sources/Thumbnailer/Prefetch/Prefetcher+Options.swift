public import ThumbnailCore

extension Prefetcher {
  /// How far ahead a prefetcher works, and with how much at once. The defaults suit a grid of photographs.
  public struct Options: Sendable, Hashable {
    /// How much is at hand ahead of the view in any case, in heights of the view. A fast scroll looks further ahead.
    /// Default: 1.
    public var screensAhead = 1.0
    /// How much is at hand behind the view, in heights of the view. Default: 0.5.
    public var screensBehind = 0.5
    /// The most that may be downloaded for cells that are not in view, counted from the view on, in bytes: what was
    /// downloaded for those that are there, and what pictures took on average for those that are not. Default: 32 MiB.
    public var byteBudget = ByteSize.mebibytes(32)
    /// The most requests under way at once, cells in view included. Nil: as many as the pipeline downloads from one host,
    /// and one for each decode.
    public var maximumRunning: Int?
    /// The most requests under way at once for cells that are not in view. Nil: two fewer than the pipeline downloads
    /// from one host, so that a cell that comes into view finds a free slot.
    public var maximumPrefetches: Int?
    /// Whether what is fetched for cells out of view goes to the disk cache alone, and leaves the memory cache as it is.
    /// Default: false.
    public var diskOnly = false
    /// How many items the list should have beyond the view, in heights of the view: fewer, and `itemsWanted` asks for
    /// more. Default: 3.
    public var screensOfItemsAhead = 3.0

    /// The defaults.
    public init() {}
  }
}
