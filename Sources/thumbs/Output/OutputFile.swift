import Foundation

/// Atomic writing of a file.
enum OutputFile {
  /// Writes to a new file in the same folder and renames it over the named one, so that readers see either the old or
  /// the new content. A symbolic link is kept and its target replaced; a device or named pipe is written to directly.
  ///
  /// - Throws: `POSIXError`; the named file is then unchanged.
  static func write(_ data: Data, to path: String) throws {
    let place = try Place(path)
    do {
      defer { close(place.descriptor) }
      try write(data, to: place.descriptor)
      try place.commit()
    } catch {
      place.discard()
      throw error
    }
  }

  /// Whether both paths denote the same location, whether or not it exists.
  static func isSamePath(_ one: String, _ other: String) -> Bool { place(of: one) == place(of: other) }

  private static func place(of path: String) -> String {
    if let resolved = resolved(path) { return resolved }
    let plain = URL(fileURLWithPath: path).standardizedFileURL
    let folder = plain.deletingLastPathComponent().path
    return (resolved(folder) ?? folder) + "/" + plain.lastPathComponent
  }

  /// The absolute path with links resolved; nil if it does not exist.
  static func resolved(_ path: String) -> String? {
    realpath(path, nil).map { resolved in
      defer { free(resolved) }
      return String(cString: resolved)
    }
  }

  /// Whether both paths lead to the same regular file.
  static func isSameFile(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
    return first.st_mode & S_IFMT == S_IFREG && first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// Writes all of the bytes at the descriptor's current position.
  static func write(_ bytes: some ContiguousBytes, to descriptor: Int32) throws(POSIXError) {
    let failure = bytes.withUnsafeBytes { bytes -> POSIXError? in
      var done = 0
      while done < bytes.count {
        let written = Foundation.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if written < 0 {
          if errno == EINTR { continue }
          return lastError()
        }
        done += written
      }
      return nil
    }
    if let failure { throw failure }
  }

  /// The error in `errno`.
  static func lastError() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
