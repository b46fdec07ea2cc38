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

  /// Where the bytes of a file go until it is complete.
  struct Place: Sendable {
    /// Open for writing. To be closed by whoever made the place.
    let descriptor: Int32
    /// The file's own name, links resolved.
    private let name: String
    /// What it is called until then; nil for a device or a named pipe.
    private let temporary: String?

    /// Makes a file of a name that nobody else uses beside the named one, with its permissions, or opens a device.
    init(_ path: String) throws {
      let target = path.withCString { realpath($0, nil) }.map { resolved in
        defer { free(resolved) }
        return String(cString: resolved)
      }
      name = target ?? path
      var status = stat()
      let exists = stat(path, &status) == 0
      if exists, status.st_mode & S_IFMT != S_IFREG {
        temporary = nil
        descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw OutputFile.lastError() }
        return
      }
      var template = Array("\(name).XXXXXX".utf8CString)
      descriptor = mkstemp(&template)
      guard descriptor >= 0 else { throw OutputFile.lastError() }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      temporary = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      let mask = umask(0)
      umask(mask)
      guard fchmod(descriptor, exists ? status.st_mode & 0o7777 : 0o666 & ~mask) == 0 else {
        let error = OutputFile.lastError()
        close(descriptor)
        discard()
        throw error
      }
    }

    /// Gives the file its name.
    func commit() throws {
      guard let temporary else { return }
      guard rename(temporary, name) == 0 else { throw OutputFile.lastError() }
    }

    /// Removes what was written.
    func discard() {
      if let temporary { unlink(temporary) }
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

  fileprivate static func lastError() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
