import Foundation
public import ThumbnailCore

/// What a disk cache holds, in groups, and how much it was used. Pictures are those that the thumbnails are of.
public struct DiskCacheOverview: Sendable, Equatable {
  /// The thumbnails of one box or one format.
  public struct Share<Name: Sendable & Equatable>: Sendable, Equatable {
    /// The box or the format.
    public var name: Name
    /// The number of thumbnails.
    public var thumbnails: Int
    /// Their length together, in bytes.
    public var bytes: Int
  }

  /// The pictures of one host.
  public struct HostShare: Sendable, Equatable {
    /// The host; empty for local files.
    public var host: String
    /// The number of pictures.
    public var pictures: Int
  }

  /// The numbers of pictures by the time since they were fetched. Each is counted once.
  public struct Ages: Sendable, Equatable {
    /// Fetched within 24 hours, or in the future, as clocks that were set back make it seem.
    public var lastDay = 0
    /// Fetched within 7 days, but not the last one.
    public var lastWeek = 0
    /// Fetched within 30 days, but not the last 7.
    public var lastMonth = 0
    /// Fetched before.
    public var older = 0

    /// No pictures at all.
    public init() {}
  }

  /// The totals.
  public var totals: DiskCacheStatistics
  /// The thumbnails by the box that was asked for, the most first. Nil stands for all that another version of the
  /// library has made, and this one makes anew.
  public var sizes: [Share<PixelSize?>]
  /// The thumbnails by the format they are in, the most first.
  public var formats: [Share<ImageFormat>]
  /// The hosts with the most pictures, these first.
  public var hosts: [HostShare]
  /// The number of hosts, local files not counted.
  public var hostCount: Int
  /// The pictures by age.
  public var ages: Ages
  /// The look-ups that found a thumbnail on the disk, of all processes, since the cache was begun or cleared. Those that
  /// were answered from memory are not counted.
  public var hits: Int
  /// The look-ups that did not.
  public var misses: Int
}
