/// A directory of its own for one test, removed when the last reference is dropped.
final class CacheDirectory: Sendable {
  let url: URL
  /// The database that a cache makes here.
  var database: String { url.path + "/thumbnails-v2.sqlite" }

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("thumbnailer-cache-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The length of the database and its log in bytes.
  var fileBytes: Int {
    ["", "-wal"].reduce(0) { sum, suffix in
      let attributes = try? FileManager.default.attributesOfItem(atPath: database + suffix)
      return sum + (attributes?[.size] as? Int ?? 0)
    }
  }

  /// Changes the database behind the cache's back.
  func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: database)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
  }
}

/// Sources, variants and thumbnails told apart by a number.
extension Sample {
  static func key(_ number: Int, side: Int = 400) -> CacheKey {
    CacheKey(source: source(number).key, variant: variant(side))
  }

  static func variant(_ side: Int = 400) -> Variant { Variant(size: PixelSize(side, side), fit: .cover) }

  static func record(_ number: Int) -> SourceRecord {
    SourceRecord(source(number), description: description)
  }

  static let description = SourceDescription(size: PixelSize(6000, 4000), format: .jpeg, byteCount: 4_000_000)

  /// `bytes` bytes that no other seed has.
  static func thumbnail(_ seed: Int, bytes: Int = 12_000, side: Int = 400) -> Thumbnail {
    var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    var data = Data(count: bytes)
    data.withUnsafeMutableBytes { buffer in
      for offset in stride(from: 0, to: bytes & ~7, by: 8) {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        buffer.storeBytes(of: state, toByteOffset: offset, as: UInt64.self)
      }
    }
    return Thumbnail(data: data, size: PixelSize(side, side), format: .jpeg, source: description)
  }

  static func entry(_ seed: Int, bytes: Int = 12_000, side: Int = 400) -> CacheEntry {
    CacheEntry(variant: variant(side), thumbnail: thumbnail(seed, bytes: bytes, side: side))
  }
}

extension DiskCache {
  /// Stores one thumbnail of the source of that number.
  func store(_ number: Int, bytes: Int = 12_000) async throws {
    try await store([Sample.entry(number, bytes: bytes)], of: Sample.record(number))
  }
}
