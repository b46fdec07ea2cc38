import Exports
import Foundation
import Synchronization
import ThumbnailCore
import Thumbnailer

/// The contact sheet of a run: written as images finish, under no name or a temporary one, and named once it is
/// complete.
final class SheetFile: Sendable {
  /// The most bytes that the empty buffer keeps allocated: 256 KiB.
  private static let keptCapacity = 256 << 10

  private struct State: ~Copyable {
    /// Nil once it is complete, or could not be completed.
    var file: OutputFile?
    var pending: [UInt8] = []

    mutating func flush() throws(SystemFailure) {
      try file?.write(pending)
      pending.removeAll(keepingCapacity: pending.capacity <= SheetFile.keptCapacity)
    }
  }

  private let path: String
  private let state: Mutex<State>

  /// Starts a sheet; fails at once if the file cannot be created. A device or a named pipe is written to directly.
  ///
  /// Refuses the names of pictures and of the program's own files: what has them is no sheet.
  init(path: String, title: String) throws(FileWriteError) {
    self.path = path
    let name = RawPath(path).resolved ?? RawPath(path)
    if Self.isPicture(name) || name.name.starts(with: ".thumbs-".utf8) {
      throw FileWriteError(
        path: path, reason: "it has the name of a picture, or of a file that the program keeps for itself")
    }
    let file: OutputFile
    do throws(SystemFailure) { file = try OutputFile(path) } catch { throw FileWriteError(path: path, error) }
    // What comes from now on is not replaced.
    let start = ContactSheet.start.utf8
    if file.existing?.kind == .regular {
      guard let opened = try? RootFolder.file(at: name).file,
        let first = try? ByteSource.file(opened, count: start.count).read(at: 0, length: start.count),
        first.isEmpty || first.elementsEqual(start)
      else { throw FileWriteError(path: path, reason: "it is no contact sheet; move it") }
    }
    state = Mutex(State(file: file))
    try write(ContactSheet.head(title: title))
  }

  /// Whether a sheet can have this name.
  static func isPage(_ path: String) -> Bool {
    ["html", "htm"].contains(URL(fileURLWithPath: path).pathExtension.lowercased())
  }

  /// Whether a file has the name of a picture or a film.
  private static func isPicture(_ path: RawPath) -> Bool {
    let end = String(decoding: NamingTemplate.end(path.name), as: UTF8.self).lowercased()
    return RawPath.filmExtensions.contains(end) || ImageFormat.allCases.contains { $0.fileExtensions.contains(end) }
  }

  /// Adds an image.
  func add(_ cell: SheetCell) throws(FileWriteError) {
    var cell = cell
    cell.name = PlainText.line(cell.name)
    cell.failure = cell.failure.map { PlainText.line(PlainText.withShortPaths(Advice.withOptions($0))) }
    try write(ContactSheet.figure(cell))
  }

  /// Completes the sheet and gives it its name.
  func finish(pictures: Int, failed: Int) throws(FileWriteError) {
    try write(ContactSheet.foot(images: pictures, failed: failed))
    try changing { state throws(SystemFailure) in
      defer { state.file = nil }
      try state.flush()
      try state.file?.commit()
    }
  }

  private func write(_ text: String) throws(FileWriteError) {
    try changing { state throws(SystemFailure) in
      state.pending += text.utf8
      if state.pending.count >= 64 << 10 { try state.flush() }
    }
  }

  private func changing(_ change: (inout State) throws(SystemFailure) -> Void) throws(FileWriteError) {
    do throws(SystemFailure) {
      try state.withLock { state throws(SystemFailure) in try change(&state) }
    } catch {
      throw FileWriteError(path: path, error)
    }
  }
}
