import Foundation

/// A file that is written as a whole or not at all.
enum OutputFile {
  /// Writes to a new file beside the named one, which then takes its place: whoever reads meanwhile sees the old file or
  /// the new one. A link stays and the file it leads to is replaced; a device or a named pipe is written to.
  ///
  /// - Throws: `POSIXError`; the named file is then as it was before.
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

  /// Whether both names are of one place, whether or not something is there.
  static func isSamePath(_ one: String, _ other: String) -> Bool { place(of: one) == place(of: other) }

  private static func place(of path: String) -> String {
    if let resolved = resolved(path) { return resolved }
    let plain = URL(fileURLWithPath: path).standardizedFileURL
    let folder = plain.deletingLastPathComponent().path
    return (resolved(folder) ?? folder) + "/" + plain.lastPathComponent
  }

  /// The path from the root without links; nil where there is nothing.
  static func resolved(_ path: String) -> String? {
    realpath(path, nil).map { resolved in
      defer { free(resolved) }
      return String(cString: resolved)
    }
  }

  /// Whether both names lead to the same regular file.
  static func isSameFile(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
    return first.st_mode & S_IFMT == S_IFREG && first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  private static func write(_ data: Data, to descriptor: Int32) throws {
    try data.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let written = Foundation.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if written < 0 {
          if errno == EINTR { continue }
          throw lastError()
        }
        done += written
      }
    }
  }

  /// What the system said last.
  static func lastError() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
