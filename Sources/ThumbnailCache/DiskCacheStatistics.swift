public import Foundation

/// What a disk cache holds at one moment.
public struct DiskCacheStatistics: Sendable, Equatable {
  /// The number of thumbnails.
  public var thumbnails: Int
  /// The number of pictures they are of.
  public var sources: Int
  /// The length of all thumbnails together, in bytes: what the limit applies to.
  public var payloadBytes: Int
  /// The length of the database and its write-ahead log on the disk, in bytes.
  public var fileBytes: Int
  /// The limit on `payloadBytes`.
  public var byteLimit: Int
  /// When the picture that was fetched first of all those held was fetched. Nil when there is none.
  public var oldest: Date?
}
