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
    /// Whether an unreachable source is retried even if no more photos are needed, so that a view of stored photos
    /// notices when the source is back. Default: false, for no needless requests.
    public var retriesWhileOffline = false
    /// Request headers for the images, by host. Default: none.
    public var headers = HostHeaders()

    /// The name of the source.
    var provider = ""
    /// Whether there is a page store.
    var hasStore = false
    /// Whether the source is an `OfflineProvider`, which never uses the network.
    var isOffline = false

    /// The defaults.
    public init() {}

    /// These options for a source: within its capabilities.
    func adapted(to provider: any PhotoProvider, hasStore: Bool) -> Options {
      var options = self
      options.provider = provider.name
      options.pageSize = max(1, min(pageSize, provider.capabilities.largestPageSize ?? .max))
      options.picksRandom = picksRandom && provider.capabilities.picksRandom
      options.hasStore = hasStore
      options.isOffline = provider is OfflineProvider
      return options
    }
  }
}
