import Foundation
import ThumbnailCore

/// A shard that is written: a tar archive without a name yet.
///
/// At every moment it is a whole archive: the empty blocks at its end are there before there is more. So a full disk
/// costs one sample, and naming it takes no further room.
struct ShardFile: ~Copyable {
  private var file: NewFile
  private let folder: RawPath
  /// The length of the entries.
  private var length: Int
  private var hash: SHA256

  /// Creates an empty archive in a folder.
  init(_ name: String, in folder: RawPath) throws(SystemFailure) {
    let file = try NewFile(folder.appending(name.utf8))
    try Self.write(TarHeader.end, at: 0, to: file.file)
    self.folder = folder
    self.file = file
    length = 0
    hash = SHA256()
  }

  /// Appends the files of a sample, all or none of them.
  mutating func append(_ files: [SampleFiles.File]) throws(SystemFailure) {
    var entries: [UInt8] = []
    entries.reserveCapacity(files.reduce(TarHeader.end.count) { $0 + $1.data.count + 2 * TarHeader.blockLength })
    for file in files { TarHeader.append(file.name, file.data, to: &entries) }
    let added = entries.count
    do throws(SystemFailure) {
      try Self.write(entries + TarHeader.end, at: length, to: file.file)
    } catch {
      // This overwrites what is there, and so needs no room.
      try Self.write(TarHeader.end, at: length, to: file.file)
      guard ftruncate(file.file.rawValue, off_t(length + TarHeader.end.count)) == 0 else { throw .last }
      throw error
    }
    hash.update(entries)
    length += added
  }

  /// Syncs the archive and gives it its name. Returns its length in bytes and its SHA-256.
  consuming func commit() throws(SystemFailure) -> (bytes: Int, sha256: String) {
    guard fsync(file.file.rawValue) == 0 else { throw .last }
    try file.commit()
    try FolderSync.sync(folder)
    hash.update(TarHeader.end)
    return (length + TarHeader.end.count, Hexadecimal.text(of: hash.finalize()))
  }

  private static func write(_ bytes: [UInt8], at offset: Int, to file: FileDescriptor) throws(SystemFailure) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { buffer in
        pwrite(file.rawValue, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
      }
      if written < 0 {
        if errno == EINTR { continue }
        throw .last
      }
      done += written
    }
  }
}

/// Makes names in a folder survive a power cut.
enum FolderSync {
  static func sync(_ folder: RawPath) throws(SystemFailure) {
    let descriptor = folder.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .last }
    let file = FileDescriptor(owning: descriptor)
    // Some file systems cannot sync folders.
    guard fsync(file.rawValue) == 0 || errno == EINVAL else { throw .last }
  }
}
