// The module ThumbnailCore: the values, threads and files that all other modules speak of.

public import FoundationEssentials

/// A request for one thumbnail of one image.
public struct ThumbnailRequest: Sendable {
  /// The source image.
  public let source: ImageSource
  /// The requested variant.
  public let variant: Variant
  /// How urgently.
  public var priority: Priority
  /// Whether the thumbnail is stored in the memory cache as well as in the disk cache. Default: true.
  public var keepsInMemory = true
  /// Whether a micro thumbnail is made and stored with the thumbnail, of the same decode: 32 pixels that a gallery shows
  /// while a cell waits for its thumbnail. None is made for a thumbnail that is stored already. Default: false.
  public var makesMicroThumbnail = false
  /// What this request wants otherwise than the pipeline's configuration says. Default: nothing.
  public var options = RequestOptions()
  /// When this request fails with `timedOut`, counted from its start; others for the same image go on. Default: nil,
  /// which leaves it to the configured timeouts.
  public var timeout: Duration?
  /// Whose part of the decodes it takes: the name of a server's client. Nil: nobody's.
  package var client: String?
  /// The cache key, computed once.
  public let key: CacheKey

  /// Requests a variant of a source.
  public init(_ source: ImageSource, variant: Variant, priority: Priority = .visible) {
    self.source = source
    self.variant = variant
    self.priority = priority
    key = CacheKey(source: source.key, variant: variant)
  }

  /// What is wrong with the request, as a message that says what to do; nil when it is valid.
  package var problem: String? {
    if let timeout, timeout <= .zero { return "the timeout must be more than 0" }
    return variant.problem ?? options.problem
  }

  /// Requests a thumbnail of an image on the web or of a local file, `size` in device pixels.
  ///
  /// A `file` URL is read as a file that the program itself names, as `ImageSource.file(at:)` does. For untrusted URLs
  /// use `ImageSource(_:)`, which reads no files.
  public init(
    _ url: URL, size: PixelSize, fit: Fit = .cover, format: OutputFormat = .auto, priority: Priority = .visible
  ) {
    let source = url.isFileURL ? ImageSource.file(at: url) : ImageSource(url)
    self.init(source, variant: Variant(size: size, fit: fit, format: format), priority: priority)
  }
}
