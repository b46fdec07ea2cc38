import CSQLite
import Foundation
import Thumbnailer

/// The time of a hit on the disk through `DiskCache.thumbnail(for:)`, against a raw read of the same rows of the same
/// file. Both read the same keys in the same random order, by turns, and end with a copy of the blob of their own.
enum ReadMeasurement {
  static func run(_ samples: Samples, cache: DiskCache, path: String) throws {
    let raw = try RawDatabase(path: path, readOnly: true)
    // A row with all that a thumbnail is made of.
    let statement = try raw.prepare(
      """
      SELECT id, width, height, format, source_width, source_height, source_format, source_bytes, checksum, data
      FROM thumbnail WHERE source = ? AND variant = ?
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
    let texts = try raw.texts("SELECT hex(source) FROM thumbnail ORDER BY id")
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
        guard sqlite3_step(statement) == SQLITE_ROW else { return }
        length = Int(sqlite3_column_bytes(statement, 9))
        guard let copy = malloc(length), let blob = sqlite3_column_blob(statement, 9) else { return }
        memcpy(copy, blob, length)
        free(copy)
      }
    }
    sqlite3_reset(statement)
    return length
  }
}
