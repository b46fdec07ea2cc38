import CaptureDates
package import Foundation
import ThumbnailCore
import Thumbnailer

/// The dates and cameras read from a folder's images, by the state of each file. Takes 24 bytes an image.
struct FolderDates: Sendable {
  struct Record: Sendable {
    /// 0 for a file that was not read.
    var key: UInt64 = 0
    let date: CaptureDate
    /// The number of the camera's name.
    var camera: UInt16 = 0
    /// See `FilePrint`; not stored.
    var stamps: (length: UInt32, inode: UInt32) = (0, 0)
  }

  /// In the order of their keys.
  fileprivate let records: [Record]
  let cameras: CameraNames

  init(_ records: [Record] = [], cameras: CameraNames = CameraNames()) {
    (self.records, self.cameras) = (records.sorted { $0.key < $1.key }, cameras)
  }

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

  /// What was read of the file with a key; nil if it was not.
  func record(of key: UInt64) -> Record? {
    let place = records.partitioningIndex { $0.key >= key }
    return place < records.count && records[place].key == key ? records[place] : nil
  }
}

/// The file with a folder's dates, in the cache's folder: eight bytes that name the format, eight for the number of
/// images, 18 for each, the names of cameras in a line each, and a checksum of eight. All numbers are little-endian.
package struct FolderDatesFile: Sendable {
  private static let folder = "dates"
  private static let signature = Array("thmdate2".utf8)
  private static let headLength = 16
  private static let recordLength = 18
  private static let checksumLength = 8

  private let path: RawPath

  /// The file of the folder at an absolute path.
  package init(in cacheDirectory: URL, of folder: String) {
    let name = SHA256.hash(folder.utf8).prefix(16).hexadecimal
    path = RawPath(cacheDirectory.appending(path: Self.folder).path).appending("\(name).dates".utf8)
  }

  /// Removes the files of all folders, and nothing else.
  package static func removeAll(in cacheDirectory: URL) {
    guard let root = try? RootFolder(RawPath(cacheDirectory.path)) else { return }
    for name in root.names(in: folder.utf8) ?? [] where name.count == 38 && name.suffix(6).elementsEqual(".dates".utf8)
    {
      let path = Array("\(folder)/".utf8) + name
      if isOurs(path, in: root) { try? root.remove(path) }
    }
    root.removeEmptyFolders(of: Array("\(folder)/".utf8))
  }

  /// Whether a file begins as one of this program, of another version, too, or has nothing, as a power failure leaves it.
  private static func isOurs(_ path: [UInt8], in root: RootFolder) -> Bool {
    guard let (file, state) = try? root.file(path), state.kind == .regular else { return false }
    let head = try? ByteSource.file(file, count: state.byteCount).read(at: 0, length: signature.count)
    return head?.starts(with: signature.dropLast()) == true || head?.allSatisfy { $0 == 0 } == true
  }

  /// The stored dates; none if there is no file, or it is damaged.
  func read() -> FolderDates {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path.description)) else { return FolderDates() }
    let content = data.dropLast(Self.checksumLength)
    guard data.starts(with: Self.signature), content.count >= Self.headLength,
      data.suffix(Self.checksumLength).elementsEqual(Self.checksum(of: content))
    else {
      // Those of another version only lack what this one keeps.
      if data.starts(with: Self.signature) || !data.starts(with: Self.signature.dropLast()) {
        Log.cache.warning("the dates of a folder's pictures cannot be read and are looked for again: \(path)")
      }
      return FolderDates()
    }
    return content.withUnsafeBytes { bytes in
      func number<Number: FixedWidthInteger>(at place: Int) -> Number {
        Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
      }
      let most = (bytes.count - Self.headLength) / Self.recordLength
      let end = Self.headLength + max(0, min(number(at: Self.signature.count), most)) * Self.recordLength
      let cameras = CameraNames(
        bytes[end...].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) })
      let records = stride(from: Self.headLength, to: end, by: Self.recordLength).compactMap { place in
        CaptureDate(packed: number(at: place + 8)).map {
          FolderDates.Record(key: number(at: place), date: $0, camera: number(at: place + 16))
        }
      }
      return FolderDates(records, cameras: cameras)
    }
  }

  func write(_ dates: FolderDates) {
    var content = Data(Self.signature)
    func append(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.littleEndian) { content.append(contentsOf: $0) }
    }
    append(dates.records.count)
    for record in dates.records {
      append(record.key)
      append(record.date.packed)
      append(record.camera)
    }
    content.append(contentsOf: dates.cameras.names.joined(separator: "\n").utf8)
    content.append(contentsOf: Self.checksum(of: content))
    do throws(SystemFailure) {
      let folder = RawPath(bytes: path.folder.dropLast())
      try NewFile.makeFolders(folder, permissions: 0o700)
      let root = try RootFolder(folder)
      guard root.state(of: Array(path.name)) == nil || Self.isOurs(Array(path.name), in: root) else {
        throw SystemFailure(code: EEXIST)
      }
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
