public import Foundation

/// Asks for one thumbnail of one picture.
public struct ThumbnailRequest: Sendable {
  /// The picture.
  public let source: ImageSource
  /// The thumbnail wanted of it.
  public let variant: Variant
  /// How urgently.
  public var priority: Priority
  /// Whether the thumbnail goes to the memory cache too, and not to the disk cache alone. Default: true.
  public var keepsInMemory = true
  /// The source and the variant, ready for look-ups.
  public let key: CacheKey

  /// Asks for a variant of a source.
  public init(_ source: ImageSource, variant: Variant, priority: Priority = .visible) {
    self.source = source
    self.variant = variant
    self.priority = priority
    key = CacheKey(source: source.key, variant: variant)
  }

  /// Asks for a thumbnail of a picture on the web, `size` in device pixels.
  public init(
    _ url: URL, size: PixelSize, fit: Fit = .cover, format: OutputFormat = .auto, priority: Priority = .visible
  ) {
    self.init(ImageSource(url), variant: Variant(size: size, fit: fit, format: format), priority: priority)
  }
}
