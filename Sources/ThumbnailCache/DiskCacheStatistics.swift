public import Foundation

/// The contents of a disk cache at one moment.
public struct DiskCacheStatistics: Sendable, Equatable {
  /// The number of thumbnails.
  public var thumbnails: Int
  /// The number of source images.
  public var sources: Int
  /// The total length of all thumbnails in bytes, to which the limit applies.
  public var payloadBytes: Int
  /// The size of the database and its write-ahead log on disk, in bytes.
  public var fileBytes: Int
  /// The limit on `payloadBytes`.
  public var byteLimit: Int
  /// The earliest fetch time of all stored images. Nil when there are none.
  public var oldest: Date?
}
