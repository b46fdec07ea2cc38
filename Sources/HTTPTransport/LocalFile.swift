import Foundation
package import ThumbnailCore

/// A local file that the user named, open to be read: a body that needs no transfer, no slot and no memory.
package struct LocalFile: Sendable {
  /// What changes when somebody writes to a file.
  private struct Stamp: Equatable {
    var length: Int
    var seconds: Int
    var nanoseconds: Int

    init(_ status: stat) {
      length = Int(status.st_size)
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
  }

  private let file: FileDescriptor
  private let stamp: Stamp

  /// Opens a regular file. Never waits for whoever might write to a pipe, but may for the disk: to be called on a worker
  /// thread.
  ///
  /// - Throws: `.fileNotFound`, `.fileUnreadable` with the reason, `.tooLarge` beyond `byteLimit` bytes.
  package init(path: RawPath, byteLimit: Int) throws(DownloadError) {
    let descriptor = path.withCString { open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw Self.failure(errno) }
    file = FileDescriptor(owning: descriptor)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure(errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .fileUnreadable(reason: "it is a folder; name a file in it")
    default: throw Self.notRegular
    }
    stamp = Stamp(status)
    if stamp.length > byteLimit { throw .tooLarge(limit: byteLimit, announced: stamp.length) }
  }

  /// The file's bytes, as many as there were when it was opened.
  package var body: ByteSource { .file(file, count: stamp.length) }

  /// Whether somebody has written to the file since it was opened, so that what was read of it may be of no one picture.
  package var hasChanged: Bool {
    var status = stat()
    return fstat(file.rawValue, &status) != 0 || Stamp(status) != stamp
  }

  private static let notRegular = DownloadError.fileUnreadable(reason: "it is no regular file")

  private static func failure(_ code: Int32) -> DownloadError {
    switch code {
    case ENOENT, ENOTDIR: .fileNotFound
    // What a socket answers, and a device that is not there.
    case ENXIO, ENODEV: notRegular
    default: .fileUnreadable(reason: String(cString: strerror(code)))
    }
  }
}
