public import FoundationEssentials

/// A finished thumbnail: the bytes of a small image file, upright, sRGB, 8 bit, without metadata.
public struct Thumbnail: Sendable, Equatable {
  /// The file's bytes, in `format`.
  public var data: Data { didSet { tag = Memo() } }
  /// An identifier of `data`. It takes a millisecond for each 4 MB.
  package private(set) var tag = Memo<String>()
  /// Width and height in pixels, which may be less than requested.
  public var size: PixelSize
  /// The format of `data`: JPEG, PNG, WebP or AVIF.
  public var format: ImageFormat
  /// The media type of `data`, for `Content-Type`: `image/jpeg`.
  public var mediaType: String { format.mediaType }
  /// Describes the source image.
  public var source: SourceDescription
  /// Whether the source image is truncated or damaged, so that a part is missing (`DamagePolicy.accept`).
  public var isDamaged: Bool
  /// A stand-in until the thumbnail is shown; nil for a thumbnail that an earlier version has stored.
  public var placeholder: Placeholder?

  /// Makes a thumbnail.
  package init(
    data: Data, size: PixelSize, format: ImageFormat, source: SourceDescription, isDamaged: Bool = false,
    placeholder: Placeholder? = nil
  ) {
    self.isDamaged = isDamaged
    self.placeholder = placeholder
    self.data = data
    self.size = size
    self.format = format
    self.source = source
  }
}

/// Describes a thumbnail's source image.
public struct SourceDescription: Sendable, Equatable {
  /// The size in pixels, upright.
  public var size: PixelSize
  /// The format.
  public var format: ImageFormat
  /// The length of its file in bytes.
  public var byteCount: Int
  /// The small image in the file that the thumbnail was made from; nil for the image itself, and for a thumbnail that
  /// an earlier version has stored.
  public var preview: UsedPreview?

  /// Makes a description.
  package init(size: PixelSize, format: ImageFormat, byteCount: Int, preview: UsedPreview? = nil) {
    self.size = size
    self.format = format
    self.byteCount = byteCount
    self.preview = preview
  }
}
