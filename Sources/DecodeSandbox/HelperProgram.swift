import Foundation
import ImageCodec
import Synchronization
import ThumbnailCore

/// The executable of a pipeline's helpers: opened once, so that all are of one version, whatever is installed in its
/// place meanwhile.
final class HelperProgram: Sendable {
  /// Where it is; empty if there is none.
  let path: String
  private let opened = Mutex<FileDescriptor?>(nil)

  init(_ isolation: DecodeIsolation) { path = (isolation.executable ?? DecodeHelper.program)?.path ?? "" }

  /// The open executable, which stays open as long as this object lives.
  func file() throws(HelperFailure) -> FileDescriptor {
    if path.isEmpty { throw .cannotStart(detail: DecodeHelper.absence) }
    let file = opened.withLock { opened -> FileDescriptor? in
      if opened == nil, case let descriptor = open(path, O_RDONLY | O_CLOEXEC), descriptor >= 0 {
        opened = FileDescriptor(owning: descriptor)
      }
      return opened
    }
    guard let file else { throw .cannotStart(detail: "\(path): \(SystemFailure.last.reason)") }
    return file
  }
}
