import Foundation
import ThumbnailCore

/// A shard in progress: a tar archive without a name yet.
///
/// At every moment it is a whole archive: the empty blocks at its end are written before more data. So a full disk
/// costs one sample, and giving the file its name takes no further room.
struct ShardFile: ~Copyable {
  private var file: NewFile
  private let (name, folder): (RawPath, RootFolder)
  /// The length of the entries.
  private var length: Int
  private var hash: SHA256
  /// The error after which it is no archive any more: the rest of a failed write could not be cut off.
  private var damage: SystemFailure?

  /// Creates an empty archive in a folder.
  init(_ name: String, in folder: RootFolder) throws(SystemFailure) {
    let file = try RootFolder.newFile(name.utf8, in: try folder.folder([]))
    try file.file.write(TarHeader.end, at: 0)
    (self.name, self.folder) = (RawPath(name), folder)
    self.file = file
    length = 0
    hash = SHA256()
  }

  /// Appends the files of a sample, all or none of them.
  mutating func append(_ files: [SampleFiles.File]) throws(SystemFailure) {
    if let damage { throw damage }
    var entries: [UInt8] = []
    entries.reserveCapacity(files.reduce(TarHeader.end.count) { $0 + $1.data.count + 2 * TarHeader.blockLength })
    for file in files { TarHeader.append(file.name, file.data, to: &entries) }
    let added = entries.count
    do throws(SystemFailure) {
      try file.file.write(entries + TarHeader.end, at: length)
    } catch {
      do throws(SystemFailure) { try cut() } catch { damage = error }
      throw error
    }
    hash.update(entries)
    length += added
  }

  /// Ends the archive behind its last entry. This overwrites existing bytes, and so needs no room.
  private func cut() throws(SystemFailure) {
    try file.file.write(TarHeader.end, at: length)
    guard ftruncate(file.file.rawValue, off_t(length + TarHeader.end.count)) == 0 else { throw .last }
  }

  /// Syncs the archive and gives it its name. Returns its length in bytes and its SHA-256.
  consuming func commit() throws(SystemFailure) -> (bytes: Int, sha256: String) {
    if let damage { throw damage }
    try file.syncAndCommit(as: name, in: folder)
    try Self.sync(folder.path)
    hash.update(TarHeader.end)
    return (length + TarHeader.end.count, hash.finalize().hexadecimal)
  }

  /// Makes names in a folder survive a power cut.
  private static func sync(_ folder: RawPath) throws(SystemFailure) {
    let descriptor = folder.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .last }
    let file = FileDescriptor(owning: descriptor)
    // Some file systems cannot sync folders.
    guard fsync(file.rawValue) == 0 || errno == EINVAL else { throw .last }
  }
}
