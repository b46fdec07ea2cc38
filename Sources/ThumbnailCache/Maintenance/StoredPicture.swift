public import Foundation
public import ThumbnailCore

/// A source image with thumbnails in a disk cache.
public struct StoredPicture: Sendable, Equatable {
  /// The key of the image.
  public let key: SourceKey
  /// Its address, without user, password, query and fragment, at most 1024 characters of it.
  public let location: String
  /// Its host; empty for a local file.
  public let host: String
  /// When it was fetched.
  public let fetchedAt: Date
  /// Its size in pixels, its format, and the length of its file.
  public let description: SourceDescription
  /// Its thumbnails, largest boxes first. Never empty.
  public let thumbnails: [StoredThumbnail]

  /// The total length of its thumbnails in bytes.
  public var bytes: Int { thumbnails.reduce(0) { $0 + $1.bytes } }
}

/// A thumbnail in a disk cache, without its bytes.
public struct StoredThumbnail: Sendable, Equatable {
  /// The requested variant. Nil for one made by another version of the library, which this one makes again.
  public let variant: Variant?
  /// Its size in pixels.
  public let size: PixelSize
  /// The format.
  public let format: ImageFormat
  /// Its length in bytes.
  public let bytes: Int
  /// Its row id. Another thumbnail may get the same id once it is gone.
  let row: Int64
}
