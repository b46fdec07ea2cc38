import Foundation

/// Deletes databases of earlier layouts, which this version cannot read. Their contents can be fetched again.
enum EarlierCaches {
  /// Deletes those in a directory that no process has open. A running earlier program keeps its file; if it is started
  /// again later, it creates a new one. Called under the directory's lock.
  static func remove(in directory: String, before majorVersion: Int) {
    for version in 1..<max(1, majorVersion) {
      let path = CacheDatabase.path(in: directory, majorVersion: version)
      guard !isOpen(path) else { continue }
      for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }
  }

  /// Whether another process has a WAL database open: all its connections share a lock on one byte of the shared memory
  /// file ("Walindex Format", 2.3). Without that file no process has.
  private static func isOpen(_ path: String) -> Bool {
    let memory = open(path + "-shm", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { return errno != ENOENT }
    defer { close(memory) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 128
    lock.l_len = 1
    return fcntl(memory, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
  }
}
