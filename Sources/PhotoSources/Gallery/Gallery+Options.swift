public import HTTPTransport

extension Gallery {
  /// What can be set about a gallery.
  public struct Options: Sendable {
    /// Photos a page. Default: 30.
    public var pageSize = 30
    /// When the next page is asked for. Default: when one of the last six photos is in view.
    public var nextPage = NextPageTrigger.standard
    /// How long nobody must have typed before `type(_:)` searches. Default: 300 ms.
    public var typingPause = Duration.milliseconds(300)
    /// Whether a page that is on its way when the view goes away is waited for. Else it is given up, and asked for again
    /// when the view comes back. Default: true.
    public var loadsWhileHidden = true
    /// Whether a search without words shows photos picked by chance, where the source can do so. Default: true.
    public var picksRandom = true
    /// Whether pages are stored in the pipeline's cache, and shown when the source cannot be reached. Default: true.
    public var storesPages = true
    /// How long the source is left alone after a failure; twice that after the next failure, and so on. Default: 1 s.
    public var firstRetry = Duration.seconds(1)
    /// The longest such pause, unless the source asks for more. Default: 60 s.
    public var longestRetry = Duration.seconds(60)
    /// What pictures are asked for with, by host. Default: nothing.
    public var headers = HostHeaders()

    /// The defaults.
    public init() {}
  }
}

extension GalleryMachine.Options {
  /// What concerns the machine.
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
  }
}
