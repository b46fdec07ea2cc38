import Foundation

extension OutputFile {
  /// The destination of a file's bytes until it is complete.
  struct Place: Sendable {
    private enum Holding: Equatable {
      /// A device or a named pipe, which is written to directly.
      case device
      /// An unnamed file (`O_TMPFILE`), which vanishes if the process ends.
      case unnamed
      /// A file with a unique temporary name, if the file system has no unnamed files.
      case named(String)
    }

    /// Open for writing. To be closed by the creator, after `commit`.
    let descriptor: Int32
    /// The final name, with links resolved.
    private let name: String
    private let holding: Holding

    /// `O_TMPFILE`, which Glibc declares for GNU sources only.
    private static let withoutName: Int32 = 0o20000000 | O_DIRECTORY

    /// Creates a file in the folder of the named one, with its permissions, or opens a device.
    init(_ path: String) throws {
      name = try Self.end(of: path)
      var status = stat()
      let exists = stat(path, &status) == 0
      if exists, status.st_mode & S_IFMT != S_IFREG {
        holding = .device
        descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw OutputFile.lastError() }
        return
      }
      let unnamed = open(Self.folder(of: name), Self.withoutName | O_WRONLY | O_CLOEXEC, 0o600)
      // Without /proc the file could not be linked.
      if unnamed >= 0, access(Self.link(to: unnamed), F_OK) == 0 {
        (descriptor, holding) = (unnamed, .unnamed)
      } else {
        if unnamed >= 0 { close(unnamed) }
        var template = Array(Self.temporary(beside: name, ending: "XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw OutputFile.lastError() }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        holding = .named(String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
      }
      let mask = umask(0)
      umask(mask)
      guard fchmod(descriptor, exists ? status.st_mode & 0o7777 : 0o666 & ~mask) == 0 else {
        let error = OutputFile.lastError()
        close(descriptor)
        discard()
        throw error
      }
    }

    /// Gives the file its final name.
    func commit() throws {
      switch holding {
      case .device: break
      case .named(let temporary):
        guard rename(temporary, name) == 0 else { throw OutputFile.lastError() }
      case .unnamed:
        if give(name) { return }
        guard errno == EEXIST else { throw OutputFile.lastError() }
        try replace()
      }
    }

    /// Replaces an existing file: linked to a temporary name first, since only a named file can be renamed.
    private func replace() throws {
      var temporary = ""
      repeat {
        let random = UInt32.random(in: .min ... .max)
        temporary = Self.temporary(beside: name, ending: String(random, radix: 36))
      } while !give(temporary) && errno == EEXIST
      guard rename(temporary, name) == 0 else {
        let error = OutputFile.lastError()
        unlink(temporary)
        throw error
      }
    }

    /// Links the unnamed file to a name that must not exist. On failure, sets `errno`.
    private func give(_ name: String) -> Bool {
      linkat(AT_FDCWD, Self.link(to: descriptor), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
    }

    /// Removes the file.
    func discard() {
      if case .named(let temporary) = holding { unlink(temporary) }
    }

    private static func link(to descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

    /// A temporary name of fixed length, since the file's own name may have the maximum length.
    private static func temporary(beside name: String, ending: String) -> String {
      "\(folder(of: name))/.thumbs-\(ending)"
    }

    /// The path with symbolic links resolved, whether or not the target exists.
    private static func end(of path: String) throws -> String {
      var path = path
      for _ in 0..<40 {
        if let resolved = OutputFile.resolved(path) { return resolved }
        guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return path }
        path = next.hasPrefix("/") ? next : "\(folder(of: path))/\(next)"
      }
      throw POSIXError(.ELOOP)
    }

    private static func folder(of path: String) -> String {
      guard let slash = path.lastIndex(of: "/") else { return "." }
      return slash == path.startIndex ? "/" : String(path[..<slash])
    }
  }
}
