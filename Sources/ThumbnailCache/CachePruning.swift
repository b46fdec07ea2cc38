public import Foundation

/// What to remove from a disk cache.
public struct CachePruning: Sendable, Equatable {
  /// Removes images fetched before this, with all their thumbnails. Nil: regardless of the time.
  public var fetchedBefore: Date?
  /// Removes images of this host; combined with `fetchedBefore`, only those fetched before it. In lower case; empty
  /// stands for local files. Nil: regardless of the host.
  public var host: String?
  /// Of what is left, removes the least recently used thumbnails until the others take no more than this many bytes.
  /// Nil: none.
  public var byteLimit: Int?

  /// Removes nothing unless something is given.
  public init(fetchedBefore: Date? = nil, host: String? = nil, byteLimit: Int? = nil) {
    (self.fetchedBefore, self.host, self.byteLimit) = (fetchedBefore, host, byteLimit)
  }

  /// What was removed.
  public struct Outcome: Sendable, Equatable {
    /// The number of thumbnails.
    public var thumbnails = 0
    /// Their total length in bytes.
    public var bytes = 0

    /// Nothing removed.
    public init() {}

    init(thumbnails: Int, bytes: Int) { (self.thumbnails, self.bytes) = (thumbnails, bytes) }

    static func += (sum: inout Outcome, other: Outcome) {
      sum.thumbnails += other.thumbnails
      sum.bytes += other.bytes
    }
  }

  /// The images to remove as a whole; nil if none.
  var filter: PictureFilter? {
    guard fetchedBefore != nil || host != nil else { return nil }
    return PictureFilter(host: host, fetchedBefore: fetchedBefore?.timeIntervalSince1970)
  }
}
