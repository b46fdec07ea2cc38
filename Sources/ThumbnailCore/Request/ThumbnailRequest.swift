// The module ThumbnailCore: values, threads and files for all other modules.

public import FoundationEssentials

/// A request for one thumbnail of one image.
public struct ThumbnailRequest: Sendable {
  /// The source image.
  public let source: ImageSource
  /// The requested variant.
  public let variant: Variant
  /// How urgently.
  public var priority: Priority
  /// Options that replace the pipeline's configuration for this request. Default: none.
  public var options = RequestOptions()
  /// The time from its start after which this request fails with `timedOut`; others for the same image continue.
  /// Default: nil, for the configured timeouts.
  public var timeout: Duration?
  /// The server's client whose share of the decodes the request uses. Nil: no client's.
  package var client: String?
  /// The cache key.
  public var key: CacheKey { CacheKey(source: source.key, variant: variant) }

  /// Requests a variant of a source.
  public init(_ source: ImageSource, variant: Variant, priority: Priority = .visible) {
    self.source = source
    self.variant = variant
    self.priority = priority
  }

  /// A message that says why the request is invalid and what to do; nil if it is valid.
  package var problem: String? {
    if let timeout, timeout <= .zero { return "the timeout must be more than 0" }
    return variant.problem ?? options.problem
  }

  /// Requests a thumbnail of an image on the web or of a local file, `size` in device pixels.
  ///
  /// A `file` URL is read as a file that the program itself names, as `ImageSource.file(at:)` does. For untrusted URLs
  /// use `ImageSource(_:)`, which reads no files.
  public init(
    _ url: URL, size: PixelSize, fit: Fit = .contain, format: OutputFormat = .auto, priority: Priority = .visible
  ) {
    let variant = Variant(size: size, fit: fit, format: format)
    self.init(ImageSource.named(by: url), variant: variant, priority: priority)
  }

  /// Requests a thumbnail of an image on the web or of a local file, in a box of `size` × `size` device pixels.
  public init(
    _ url: URL, size: Int, fit: Fit = .contain, format: OutputFormat = .auto, priority: Priority = .visible
  ) {
    self.init(url, size: PixelSize(size, size), fit: fit, format: format, priority: priority)
  }
}
