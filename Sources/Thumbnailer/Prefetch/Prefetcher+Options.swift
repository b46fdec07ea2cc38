public import ThumbnailCore

extension Prefetcher {
  /// How far ahead a prefetcher works, and its limits. The defaults suit a grid of photographs.
  public struct Options: Sendable, Hashable {
    /// How much is prefetched ahead of the viewport at least, in heights of the viewport; more in a fast scroll.
    /// Default: 1.
    public var screensAhead = 1.0
    /// How much is prefetched behind the viewport, in heights of the viewport. Default: 0.5.
    public var screensBehind = 0.5
    /// The most bytes downloaded for cells outside of the viewport, counted outwards from it: actual downloads for
    /// cells that are ready, and the average per image for the others. Default: 32 MiB.
    public var byteBudget = ByteSize.mebibytes(32)
    /// The most concurrent requests, visible cells included. Nil: as many as the pipeline downloads from one host, plus
    /// one for each decode.
    public var maximumRunning: Int?
    /// The most concurrent requests for cells that are not visible. Nil: two fewer than the pipeline downloads from one
    /// host, so that a cell that becomes visible finds a free slot.
    public var maximumPrefetches: Int?
    /// Whether thumbnails prefetched for cells out of view go to the disk cache alone, without changing the memory
    /// cache. Default: false.
    public var diskOnly = false
    /// Whether a micro thumbnail is made with each thumbnail, of the same decode, and stored with it: another run shows
    /// it while a cell waits for its thumbnail (`Prefetcher.cachedMicroThumbnail(at:)`). Default: true.
    public var makesMicroThumbnails = true
    /// How many stored micro thumbnails are read into memory before and behind the cells in view, so that a cell that
    /// comes into view has its own at once; those in view are read first. At most 1024; 0 reads none. Default: 1024.
    public var microThumbnailsAhead = 1024
    /// How many items the list should have beyond the viewport, in heights of the viewport; with fewer, `itemsWanted`
    /// asks for more. Default: 3.
    public var screensOfItemsAhead = 3.0

    /// The defaults.
    public init() {}
  }
}
