/// The sizes derived from the limit of a disk cache, so that the database and its write-ahead log stay below limit ×
/// 1.1.
///
/// The payload, the sum of the lengths of all thumbnails and micro thumbnails, never exceeds the limit. Partly filled pages, indexes and the
/// log are added to it: 5 % and a few megabytes with thumbnails of 12 kB, more with smaller ones. So the pages have a
/// limit as well, and whichever is reached first causes evictions. A limit below 8 MiB leaves too little room for the
/// log; the files may then be up to 1 MiB larger than limit × 1.1.
struct DiskCacheLimits: Sendable, Equatable {
  /// The page size of the database in bytes.
  ///
  /// Since thumbnails are split at page ends, hardly any space depends on it. Smaller pages are slower to read: 12 kB
  /// take 15 µs from pages of 1 KiB, 11 µs from 4 KiB. Larger ones cost more when a row changes.
  static let pageSize = 4096

  /// The limit on the payload in bytes.
  var byteLimit: Int

  init(byteLimit: Int) { self.byteLimit = max(0, byteLimit) }

  /// The approximate number of thumbnail bytes in one transaction.
  var batchBytes: Int { min(max(byteLimit / 64, 64 << 10), 2 << 20) }

  /// The length of the log, in pages, at which it is checkpointed.
  var checkpointPages: Int { min(max(byteLimit / 64, 128 << 10), 4 << 20) / Self.pageSize }

  /// The most bytes of the log: a transaction that begins just below the checkpoint, with the pages its evictions
  /// touch.
  var logBytes: Int { checkpointPages * Self.pageSize + batchBytes * 5 / 2 }

  /// The most pages of the database.
  var pages: Int {
    let files = byteLimit + byteLimit / 10 + (byteLimit < 8 << 20 ? 1 << 20 : 0)
    return (files - logBytes) / Self.pageSize
  }

  /// The most free pages that one transaction returns to the file system.
  var vacuumPages: Int { batchBytes / Self.pageSize }

  /// Free pages beyond this number are returned; fewer are kept for the next thumbnails.
  var sparePages: Int { 4 * vacuumPages }

  /// The most failures kept: one for each 16 KiB.
  var failures: Int { min(max(byteLimit >> 14, 64), 10_000) }

  /// The most search pages kept, so that finding the least recently used one takes about a millisecond.
  static let listingPages = 16384

  /// The most bytes that all search pages take together: some hundred thousand photos with the default limit. They
  /// count towards the limit of the thumbnails.
  var listingBytes: Int { min(byteLimit / 16, 64 << 20) }
}
