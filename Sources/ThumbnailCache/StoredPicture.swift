public import Foundation
public import ThumbnailCore

/// A picture with thumbnails in a disk cache.
public struct StoredPicture: Sendable, Equatable {
  /// What it is known by.
  public let key: SourceKey
  /// Where it came from, without user, password, query and fragment, and at most 1024 characters of it.
  public let location: String
  /// The host it came from; empty for a local file.
  public let host: String
  /// When it was fetched.
  public let fetchedAt: Date
  /// Its size in pixels, its format, and the length of its file.
  public let description: SourceDescription
  /// Its thumbnails, the largest boxes first. Never empty.
  public let thumbnails: [StoredThumbnail]

  /// The length of its thumbnails together, in bytes.
  public var bytes: Int { thumbnails.reduce(0) { $0 + $1.bytes } }
}

/// A thumbnail in a disk cache, without its bytes.
public struct StoredThumbnail: Sendable, Equatable {
  /// What was asked for. Nil when another version of the library has made it; this one makes it anew.
  public let variant: Variant?
  /// Its size in pixels.
  public let size: PixelSize
  /// The format it is in.
  public let format: ImageFormat
  /// Its length in bytes.
  public let bytes: Int
  /// Where it is. Another may take its place once it is gone.
  let row: Int64
}
