public import FoundationEssentials

/// A finished thumbnail: the bytes of a small image file, upright, sRGB, 8 bit, without metadata.
public struct Thumbnail: Sendable, Equatable {
  /// The file's bytes, in `format`.
  public var data: Data { didSet { tag = Memo() } }
  /// What tells `data` from other bytes: making it takes a millisecond for each 4 MB.
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
  /// What can be shown before it; nil for a thumbnail that an earlier version has stored.
  public var placeholder: Placeholder?
  /// The same in at most 32 pixels a side, as a JPEG of up to 1 kB, if it was made with the thumbnail
  /// (`ThumbnailRequest.makesMicroThumbnail`). Nil for a thumbnail from a cache, which has it apart.
  public var microThumbnail: Data?

  /// The bytes that a cache stores of it, with its micro thumbnail.
  package var storedBytes: Int { data.count + (microThumbnail?.count ?? 0) }

  /// The longer side of a micro thumbnail, in pixels; less for a smaller thumbnail.
  package static let microSide = 32

  /// Makes a thumbnail.
  public init(
    data: Data, size: PixelSize, format: ImageFormat, source: SourceDescription, isDamaged: Bool = false,
    placeholder: Placeholder? = nil, microThumbnail: Data? = nil
  ) {
    self.microThumbnail = microThumbnail
    self.isDamaged = isDamaged
    self.placeholder = placeholder
    self.data = data
    self.size = size
    self.format = format
    self.source = source
  }
}

/// What is known of a thumbnail's source image.
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
  public init(size: PixelSize, format: ImageFormat, byteCount: Int, preview: UsedPreview? = nil) {
    self.size = size
    self.format = format
    self.byteCount = byteCount
    self.preview = preview
  }
}
