import CSQLite
import Foundation
import ThumbnailCache
import Thumbnailer

/// The time of a hit on the disk through `DiskCache.thumbnail(for:)`, against a raw read of the same rows of the same
/// file. Both read the same keys in the same random order, by turns, and end with a copy of the bytes of their own.
enum ReadMeasurement {
  static func run(_ samples: Samples, cache: DiskCache, path: String) throws {
    let raw = try RawDatabase(path: path, readOnly: true)
    // A row with all that a thumbnail is made of.
    let statement = try raw.prepare(
      """
      SELECT t.id, t.width, t.height, t.format, t.source_width, t.source_height, t.source_format, t.source_bytes,
        t.checksum, p.data
      FROM source s JOIN thumbnail t ON t.source = s.id JOIN piece p ON p.id BETWEEN 2 * t.id AND 2 * t.id + 1
      WHERE s.key = ? AND t.variant = (SELECT id FROM variant WHERE token = ?) ORDER BY p.id
      """)
    defer { sqlite3_finalize(statement) }
    let rawKeys = try Self.rawKeys(samples, in: raw)
    let order = (0..<20_000).map { _ in Int.random(in: 0..<samples.keys.count) }
    var ours: [Double] = []
    var theirs: [Double] = []
    for _ in 0..<7 {
      var bytes = 0
      theirs.append(
        median(of: 1) {
          for index in order { bytes += read(rawKeys[index], token: samples.token, with: statement) }
        })
      precondition(bytes == order.count * samples.thumbnail.data.count)
      bytes = 0
      ours.append(
        try median(of: 1) {
          for index in order { bytes += try cache.thumbnail(for: samples.keys[index])?.data.count ?? 0 }
        })
      precondition(bytes == order.count * samples.thumbnail.data.count)
    }
    let our = ours.sorted()[ours.count / 2] / Double(order.count) * 1e6
    let their = theirs.sorted()[theirs.count / 2] / Double(order.count) * 1e6
    print(
      "disk hit: \(format(our)) µs among \(samples.keys.count) thumbnails, raw C \(format(their)) µs, "
        + "ratio \(format(our / their)) (at most 2.5)")
  }

  /// The keys as the database has them, in the order of the samples: that in which they were stored.
  private static func rawKeys(_ samples: Samples, in raw: RawDatabase) throws -> [[UInt8]] {
    let texts = try raw.texts("SELECT hex(s.key) FROM thumbnail t JOIN source s ON s.id = t.source ORDER BY t.id")
    precondition(texts.count == samples.keys.count)
    return texts.map { text in
      let digits = Array(text.utf8).map { UInt8($0 < 58 ? $0 - 48 : $0 - 55) }
      return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
  }

  private static func read(_ key: [UInt8], token: String, with statement: OpaquePointer?) -> Int {
    // nil as the destructor: the key and the token outlive the step.
    var length = 0
    key.withUnsafeBytes { keyBytes in
      var token = token
      token.withUTF8 { tokenBytes in
        sqlite3_bind_blob(statement, 1, keyBytes.baseAddress, Int32(keyBytes.count), nil)
        tokenBytes.withMemoryRebound(to: CChar.self) { text in
          _ = sqlite3_bind_text(statement, 2, text.baseAddress, Int32(text.count), nil)
        }
        // In one piece, or in two.
        guard let copy = malloc(1 << 16) else { return }
        while sqlite3_step(statement) == SQLITE_ROW {
          let piece = Int(sqlite3_column_bytes(statement, 9))
          guard let blob = sqlite3_column_blob(statement, 9), length + piece <= 1 << 16 else { break }
          memcpy(copy + length, blob, piece)
          length += piece
        }
        free(copy)
      }
    }
    sqlite3_reset(statement)
    return length
  }
}
