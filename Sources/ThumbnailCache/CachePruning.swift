public import Foundation

/// What is to leave a disk cache.
public struct CachePruning: Sendable, Equatable {
  /// Pictures that were fetched before this leave, with all their thumbnails. Nil: the time does not matter.
  public var fetchedBefore: Date?
  /// Pictures of this host leave; with `fetchedBefore`, those of them that were fetched before it. In lower case; empty
  /// stands for local files. Nil: the host does not matter.
  public var host: String?
  /// Of what then is left, the thumbnails that were not used for longest leave, until all others take no more than so
  /// many bytes. Nil: none.
  public var byteLimit: Int?

  /// Nothing leaves unless something is given.
  public init(fetchedBefore: Date? = nil, host: String? = nil, byteLimit: Int? = nil) {
    (self.fetchedBefore, self.host, self.byteLimit) = (fetchedBefore, host, byteLimit)
  }

  /// What left.
  public struct Outcome: Sendable, Equatable {
    /// The number of thumbnails.
    public var thumbnails = 0
    /// Their length together, in bytes.
    public var bytes = 0

    /// Nothing.
    public init() {}

    init(thumbnails: Int, bytes: Int) { (self.thumbnails, self.bytes) = (thumbnails, bytes) }

    static func += (sum: inout Outcome, other: Outcome) {
      sum.thumbnails += other.thumbnails
      sum.bytes += other.bytes
    }
  }

  /// The pictures that leave as a whole; nil when none do.
  var filter: PictureFilter? {
    guard fetchedBefore != nil || host != nil else { return nil }
    return PictureFilter(host: host, fetchedBefore: fetchedBefore?.timeIntervalSince1970)
  }
}
