package import Foundation
package import ThumbnailCore

/// The steps by which a file is written under a temporary name before it gets its own. The functions block.
package enum NewFile {
  /// Makes a folder with those that it is in; one that is there is left as it is.
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

  /// Writes all of the data at the descriptor's place.
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
  /// Whether what follows could not be written either: the disk is full, or cannot be written to.
  package var endsRun: Bool { [ENOSPC, EDQUOT, EROFS].contains(code) }
}

extension Array<UInt8>.SubSequence {
  /// A path without its last part and the slashes before it.
  fileprivate func dropLastPart() -> ArraySlice<UInt8> {
    var rest = self
    while rest.last == RawPath.slash { rest.removeLast() }
    while let last = rest.last, last != RawPath.slash { rest.removeLast() }
    while rest.count > 1, rest.last == RawPath.slash { rest.removeLast() }
    return rest
  }
}
