import Foundation
public import ThumbnailCore

/// Statistics of a disk cache, in groups, and of its use. Pictures are the source images of the thumbnails.
public struct DiskCacheOverview: Sendable, Equatable {
  /// The thumbnails of one box or one format.
  public struct Share<Name: Sendable & Equatable>: Sendable, Equatable {
    /// The box or the format.
    public var name: Name
    /// The number of thumbnails.
    public var thumbnails: Int
    /// Their total length in bytes.
    public var bytes: Int
  }

  /// The images of one host.
  public struct HostShare: Sendable, Equatable {
    /// The host; empty for local files.
    public var host: String
    /// The number of images.
    public var pictures: Int
  }

  /// The number of images by the time since they were fetched. Each is counted once.
  public struct Ages: Sendable, Equatable {
    /// Fetched within 24 hours, or in the future, as it seems after a clock was set back.
    public var lastDay = 0
    /// Fetched within 7 days, but not within the last one.
    public var lastWeek = 0
    /// Fetched within 30 days, but not within the last 7.
    public var lastMonth = 0
    /// Fetched earlier.
    public var older = 0

    /// No images.
    public init() {}
  }

  /// The totals.
  public var totals: DiskCacheStatistics
  /// The thumbnails by requested box, most first. Nil stands for those made by another version of the library, which
  /// this one makes again.
  public var sizes: [Share<PixelSize?>]
  /// The thumbnails by format, most first.
  public var formats: [Share<ImageFormat>]
  /// The hosts with the most images, most first.
  public var hosts: [HostShare]
  /// The number of hosts, without local files.
  public var hostCount: Int
  /// The images by age.
  public var ages: Ages
  /// The disk hits of all processes since the cache was created or cleared. Hits in memory are not counted.
  public var hits: Int
  /// The disk misses.
  public var misses: Int
}
