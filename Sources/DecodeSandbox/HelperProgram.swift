import Glibc
import ImageCodec
import ThumbnailCore

/// The executable of a pipeline's helpers: opened with the pipeline, so that all have its version, even if another one
/// is installed meanwhile.
final class HelperProgram: Sendable {
  /// Its path; empty if there is none.
  let path: String
  private let opened: Result<FileDescriptor, SystemFailure>

  init(_ isolation: DecodeIsolation) {
    path = Self.path(isolation)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    opened = descriptor < 0 ? .failure(.last) : .success(FileDescriptor(owning: descriptor))
  }

  /// The path of the executable for a configuration.
  static func path(_ isolation: DecodeIsolation) -> String {
    (isolation.executable ?? DecodeHelper.program)?.path ?? ""
  }

  /// The open executable, which stays open as long as this object lives.
  func file() throws(HelperFailure) -> FileDescriptor {
    if path.isEmpty { throw .cannotStart(detail: DecodeHelper.absence) }
    do throws(SystemFailure) {
      return try opened.get()
    } catch {
      throw .cannotStart(detail: "\(path): \(error.reason)")
    }
  }
}
