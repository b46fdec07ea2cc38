import CaptureDates
package import Foundation
import ThumbnailCore
import Thumbnailer

/// The dates read from a folder's images, by the state of each file. Takes 16 bytes an image.
struct FolderDates: Sendable {
  struct Record: Sendable {
    let key: UInt64
    /// As `CaptureDate.packed`.
    let date: Int64
  }

  /// In the order of their keys.
  fileprivate let records: [Record]

  init(_ records: [Record] = []) { self.records = records.sorted { $0.key < $1.key } }

  /// Identifies a file by its path within the folder, its length, and the time of its last change: an FNV-1a hash of
  /// 64 bits, which takes well under a microsecond. Two files that share one would share a date, and nothing else.
  static func key(of path: some Sequence<UInt8>, _ state: FileState) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ number: UInt64) { hash = (hash ^ number) &* 0x100_0000_01B3 }
    for byte in path { add(UInt64(byte)) }
    for number in [state.byteCount, state.modified] {
      add(UInt64(truncatingIfNeeded: number))
      // A product alone never moves high bits down.
      hash ^= hash >> 32
    }
    return hash
  }

  /// The date of the file with a key; nil if it was not read.
  func date(of key: UInt64) -> CaptureDate? {
    let place = records.partitioningIndex { $0.key >= key }
    guard place < records.count, records[place].key == key else { return nil }
    return CaptureDate(packed: records[place].date)
  }
}

/// The file with a folder's dates, in the cache's folder: eight bytes that name the format, 16 for each image, and a
/// checksum of eight. All numbers are little-endian.
package struct FolderDatesFile: Sendable {
  private static let folder = "dates"
  private static let signature = Array("thmdate1".utf8)
  private static let recordLength = 16
  private static let checksumLength = 8

  private let path: RawPath

  /// The file of the folder at an absolute path.
  package init(in cacheDirectory: URL, of folder: String) {
    let name = SHA256.hash(folder.utf8).prefix(16).hexadecimal
    path = RawPath(cacheDirectory.appending(path: Self.folder).path).appending("\(name).dates".utf8)
  }

  /// Removes the files of all folders.
  package static func removeAll(in cacheDirectory: URL) {
    try? FileManager.default.removeItem(at: cacheDirectory.appending(path: folder))
  }

  /// The stored dates; none if there is no file, or it is damaged.
  func read() -> FolderDates {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path.description)) else { return FolderDates() }
    let content = data.dropLast(Self.checksumLength)
    guard data.starts(with: Self.signature), (content.count - Self.signature.count) % Self.recordLength == 0,
      data.suffix(Self.checksumLength).elementsEqual(Self.checksum(of: content))
    else {
      Log.cache.warning("the dates of a folder's pictures cannot be read and are looked for again: \(path)")
      return FolderDates()
    }
    let records = content.dropFirst(Self.signature.count).withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: Self.recordLength).map { place in
        FolderDates.Record(
          key: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)),
          date: Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 8, as: Int64.self)))
      }
    }
    return FolderDates(records)
  }

  func write(_ dates: FolderDates) {
    var content = Data(Self.signature)
    content.reserveCapacity(content.count + dates.records.count * Self.recordLength + Self.checksumLength)
    for record in dates.records {
      withUnsafeBytes(of: (record.key.littleEndian, record.date.littleEndian)) { content.append(contentsOf: $0) }
    }
    content.append(contentsOf: Self.checksum(of: content))
    do throws(SystemFailure) {
      let folder = RawPath(bytes: path.folder.dropLast())
      try NewFile.makeFolders(folder)
      _ = folder.withCString { chmod($0, 0o700) }
      var file = try NewFile(path, permissions: 0o600)
      try file.write(content)
      try file.commit()
    } catch {
      Log.cache.warning("the dates of a folder's pictures cannot be kept: \(error.reason)")
    }
  }

  private static func checksum(of content: Data) -> ArraySlice<UInt8> {
    SHA256.hash(content).prefix(checksumLength)
  }
}
