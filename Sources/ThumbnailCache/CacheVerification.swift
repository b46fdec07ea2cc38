/// What a check of a disk cache found. All of it was repaired.
public struct CacheVerification: Sendable, Equatable {
  /// The number of thumbnails read.
  public var thumbnails = 0
  /// Their total length in bytes.
  public var bytes = 0
  /// The number of damaged thumbnails, which were removed.
  public var damaged = 0
  /// The number of orphaned rows, and of rows that were missing for a thumbnail.
  public var strays = 0
  /// Whether stored totals were wrong.
  public var hadWrongTotals = false
  /// SQLite's messages about damage to the file's structure, some 20 lines at most. The thumbnails that were still
  /// readable were moved into a new file.
  public var structure: [String] = []

  /// The result for an empty cache.
  public init() {}

  /// Whether nothing was wrong.
  public var isSound: Bool { damaged == 0 && strays == 0 && !hadWrongTotals && structure.isEmpty }
}
