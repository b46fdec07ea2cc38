import Foundation
package import ThumbnailCore

/// A local file, opened for reading: a body that needs no transfer, slot or memory.
package struct LocalFile: Sendable {
  private let file: FileDescriptor
  /// Its state when it was opened.
  private let state: FileState
  /// Files of at most this many bytes are read at once, which is faster. The files that a pipeline opens at the same
  /// time then take at most 1 MiB.
  private static let smallLength = 16 << 10

  /// Opens a regular file. Does not block on pipes, but may on the disk: call it on a worker thread.
  ///
  /// - Throws: `.fileNotFound`, `.fileUnreadable` with the reason, `.tooLarge` beyond `byteLimit` bytes.
  package init(path: RawPath, byteLimit: Int) throws(DownloadError) {
    try self.init(byteLimit: byteLimit) { () throws(SystemFailure) in try RootFolder.file(at: path) }
  }

  /// Opens a file by a function that does.
  package init(byteLimit: Int, _ open: () throws(SystemFailure) -> OpenFile) throws(DownloadError) {
    let opened: OpenFile
    do throws(SystemFailure) { opened = try open() } catch { throw Self.failure(error.code) }
    try self.init(opened.file, in: opened.state, byteLimit: byteLimit)
  }

  /// Uses a file that is already open and was in this state.
  package init(_ file: FileDescriptor, in state: FileState, byteLimit: Int) throws(DownloadError) {
    (self.file, self.state) = (file, state)
    switch state.kind {
    case .regular: break
    case .folder: throw .fileUnreadable(reason: "it is a folder; name a file in it")
    default: throw Self.notRegular
    }
    if state.byteCount > byteLimit { throw .tooLarge(limit: byteLimit, announced: state.byteCount) }
    let content = ByteSource.file(file, count: state.byteCount)
    // A read error occurs again where the bytes are used.
    let bytes = state.byteCount > Self.smallLength ? nil : try? content.read(at: 0, length: state.byteCount)
    body = bytes.map { .memory($0) } ?? content
  }

  /// The file's bytes, with its length when it was opened. A small file is in memory.
  package let body: ByteSource

  /// Whether the file has been changed since it was opened, so that the bytes may be inconsistent.
  package var hasChanged: Bool { (try? FileState(ofOpen: file)) != state }

  private static let notRegular = DownloadError.fileUnreadable(reason: "it is not a regular file")

  private static func failure(_ code: Int32) -> DownloadError {
    switch code {
    case ENOENT, ENOTDIR: .fileNotFound
    // The errors of sockets and missing devices.
    case ENXIO, ENODEV: notRegular
    default: .fileUnreadable(reason: SystemFailure(code: code).reason)
    }
  }
}
