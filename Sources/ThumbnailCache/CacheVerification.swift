/// What a check of a disk cache found. Whatever it was, it is repaired.
public struct CacheVerification: Sendable, Equatable {
  /// The number of thumbnails that were read.
  public var thumbnails = 0
  /// Their length together, in bytes.
  public var bytes = 0
  /// The number of those that were not what had been stored, and were removed.
  public var damaged = 0
  /// The number of rows that belonged to nothing any more, or were missing beside a thumbnail.
  public var strays = 0
  /// Whether totals were wrong.
  public var hadWrongTotals = false
  /// What SQLite says is wrong with the file's structure, some 20 lines at most. The thumbnails that could still be read
  /// were moved into a new file.
  public var structure: [String] = []

  /// Of an empty cache.
  public init() {}

  /// Whether nothing was found.
  public var isSound: Bool { damaged == 0 && strays == 0 && !hadWrongTotals && structure.isEmpty }
}
