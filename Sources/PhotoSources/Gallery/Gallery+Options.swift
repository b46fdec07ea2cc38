public import HTTPTransport

extension Gallery {
  /// The settings of a gallery.
  public struct Options: Sendable {
    /// Photos a page. Default: 30.
    public var pageSize = 30
    /// When the next page is requested. Default: when one of the last six photos is in view.
    public var nextPage = NextPageTrigger.standard
    /// The debounce interval of `type(_:)`. Default: 300 ms.
    public var typingPause = Duration.milliseconds(300)
    /// Whether a page request continues while the view is hidden. If not, it is cancelled, and repeated when the view
    /// is shown again. Default: true.
    public var loadsWhileHidden = true
    /// Whether an empty query shows random photos, if the source supports it. Default: true.
    public var picksRandom = true
    /// Whether pages are stored in the pipeline's cache, and shown when the source cannot be reached. Default: true.
    public var storesPages = true
    /// The first back-off interval after a failure; it doubles with each further failure. Default: 1 s.
    public var firstRetry = Duration.seconds(1)
    /// The longest back-off interval, unless the source demands a longer one. Default: 60 s.
    public var longestRetry = Duration.seconds(60)
    /// Whether a source that cannot be reached is retried while no more photos are wanted, too, so that a view of stored
    /// photos is told when it is back. Default: false, nothing is requested without need.
    public var retriesWhileOffline = false
    /// Request headers for the images, by host. Default: none.
    public var headers = HostHeaders()

    /// The defaults.
    public init() {}
  }
}

extension GalleryMachine.Options {
  /// The options that the state machine needs.
  init(_ options: Gallery.Options, provider: any PhotoProvider, hasStore: Bool) {
    self.provider = provider.name
    pageSize = max(1, min(options.pageSize, provider.capabilities.largestPageSize ?? .max))
    trigger = options.nextPage
    loadsWhileHidden = options.loadsWhileHidden
    picksRandom = options.picksRandom && provider.capabilities.picksRandom
    self.hasStore = hasStore
    isOffline = provider is OfflineProvider
    firstPause = options.firstRetry
    longestPause = options.longestRetry
    retriesWhileOffline = options.retriesWhileOffline
  }
}
