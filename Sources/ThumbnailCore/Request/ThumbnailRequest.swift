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

  /// Asks for a thumbnail of an image on the web or of a local file, `size` in device pixels.
  ///
  /// A `file` URL is read as a file that the program itself names, as `ImageSource.file(at:)` does. For URLs of
  /// strangers use `ImageSource(_:)`, which reads no files.
  public init(
    _ url: URL, size: PixelSize, fit: Fit = .cover, format: OutputFormat = .auto, priority: Priority = .visible
  ) {
    let source = url.isFileURL ? ImageSource.file(at: url) : ImageSource(url)
    self.init(source, variant: Variant(size: size, fit: fit, format: format), priority: priority)
  }
}
