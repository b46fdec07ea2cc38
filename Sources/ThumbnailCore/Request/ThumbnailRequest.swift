// The module ThumbnailCore: the values, threads and files that all other modules speak of.

public import Foundation

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
  /// The cache key, computed once.
  public let key: CacheKey

  /// Requests a variant of a source.
  public init(_ source: ImageSource, variant: Variant, priority: Priority = .visible) {
    self.source = source
    self.variant = variant
    self.priority = priority
    key = CacheKey(source: source.key, variant: variant)
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
