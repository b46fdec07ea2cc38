public import Foundation

/// A finished thumbnail: the bytes of a small picture file, upright, sRGB, 8 bit, without metadata.
public struct Thumbnail: Sendable, Equatable {
  /// The file's bytes, in `format`.
  public var data: Data
  /// Width and height in pixels, which may be less than asked.
  public var size: PixelSize
  /// What `data` is: JPEG, PNG, WebP or AVIF.
  public var format: ImageFormat
  /// What is known of the picture it was made from.
  public var source: SourceDescription
  /// Whether the picture is truncated or damaged, and a part of it is missing here (`DamagePolicy.accept`).
  public var isDamaged: Bool

  /// Puts a thumbnail together.
  public init(
    data: Data, size: PixelSize, format: ImageFormat, source: SourceDescription, isDamaged: Bool = false
  ) {
    self.isDamaged = isDamaged
    self.data = data
    self.size = size
    self.format = format
    self.source = source
  }
}

/// What is known of a picture whose thumbnail is at hand.
public struct SourceDescription: Sendable, Equatable {
  /// The picture's own size in pixels, upright.
  public var size: PixelSize
  /// What its bytes were.
  public var format: ImageFormat
  /// The length of its file in bytes.
  public var byteCount: Int

  /// Describes a picture.
  public init(size: PixelSize, format: ImageFormat, byteCount: Int) {
    self.size = size
    self.format = format
    self.byteCount = byteCount
  }
}
