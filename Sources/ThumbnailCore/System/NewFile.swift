package import Foundation

/// Writing a file under a temporary name before it is renamed to its own. The functions block.
package enum NewFile {
  /// Makes a folder and its missing ancestors.
  package static func makeFolders(_ path: RawPath) throws(SystemFailure) {
    if path.withCString({ mkdir($0, 0o777) }) == 0 { return }
    switch errno {
    case EEXIST:
      guard try FileState(of: path).kind == .folder else { throw SystemFailure(code: ENOTDIR) }
    case ENOENT:
      let parent = RawPath(bytes: path.bytes[...].dropLastPart())
      guard !parent.bytes.isEmpty, parent != path else { throw SystemFailure(code: ENOENT) }
      try makeFolders(parent)
      guard path.withCString({ mkdir($0, 0o777) }) == 0 || errno == EEXIST else { throw .last }
    default: throw .last
    }
  }

  /// Writes all of the data at the descriptor's current position.
  package static func write(_ data: some ContiguousBytes, to descriptor: Int32) throws(SystemFailure) {
    let failure = data.withUnsafeBytes { bytes -> SystemFailure? in
      var done = 0
      while done < bytes.count {
        let written = Foundation.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if written < 0 {
          if errno == EINTR { continue }
          return .last
        }
        done += written
      }
      return nil
    }
    if let failure { throw failure }
  }
}

extension SystemFailure {
  /// Whether later writes would fail as well, because the disk is full or read-only.
  package var endsRun: Bool { [ENOSPC, EDQUOT, EROFS].contains(code) }
}

extension Array<UInt8>.SubSequence {
  /// The path without its last component and the slashes before it.
  fileprivate func dropLastPart() -> ArraySlice<UInt8> {
    var rest = self
    while rest.last == RawPath.slash { rest.removeLast() }
    while let last = rest.last, last != RawPath.slash { rest.removeLast() }
    while rest.count > 1, rest.last == RawPath.slash { rest.removeLast() }
    return rest
  }
}
