import Exports
import Foundation
import ThumbnailCore

/// Writes the files of lines into a folder, each whole or not at all.
final class SampleFolder: Sendable {
  /// Several, so that some write while others wait for the disk.
  private static let threads = 8

  private let root: RootFolder
  private let pool = WorkerPool(name: "thumbnailer.worker.files", threads: threads)

  init(_ root: RootFolder) { self.root = root }

  /// Writes all files of a line. Returns the time that it took.
  ///
  /// - Throws: `cannot-write`, or `in-the-way` if a file with other bytes is there, naming the file.
  func write(_ files: [SampleFiles.File]) async throws(LineFailure) -> Duration {
    // The files are kept even if the line is cancelled.
    try await pool.runToEnd { [self] in
      Result { () throws(LineFailure) in
        let started = ContinuousClock.now
        var prepared: [Prepared] = []
        for file in files { prepared.append(try prepare(file)) }
        for file in prepared { try name(file) }
        return ContinuousClock.now - started
      }
    }.get()
  }

  /// A file without its name.
  private final class Prepared {
    let path: RawPath
    var file: NewFile

    init(_ path: RawPath, _ file: consuming NewFile) {
      self.path = path
      self.file = file
    }
  }

  private func prepare(_ file: SampleFiles.File) throws(LineFailure) -> Prepared {
    let path = RawPath(file.name)
    do throws(SystemFailure) {
      let folder = try root.folder(path.folder, making: 0o777)
      let new = Prepared(path, try RootFolder.newFile(path.name, in: folder))
      try new.file.write(file.data)
      _ = try new.file.isThere(as: path, in: root)
      return new
    } catch {
      throw LineFailure(writing: root.path.appending(path.bytes).description, error)
    }
  }

  private func name(_ new: Prepared) throws(LineFailure) {
    do throws(SystemFailure) {
      try new.file.syncAndCommit(as: new.path, in: root)
    } catch {
      throw LineFailure(writing: root.path.appending(new.path.bytes).description, error)
    }
  }
}

extension NewFile {
  /// Makes the file survive a power cut, and gives it its name, unless the same bytes have it.
  ///
  /// - Throws: `EEXIST` if another file has the name.
  mutating func syncAndCommit(as name: RawPath, in root: RootFolder) throws(SystemFailure) {
    guard fsync(file.rawValue) == 0 else { throw .last }
    if try isThere(as: name, in: root) { return }
    if try commit(replacing: false) { return }
    // Another worker may have written it at this moment.
    guard try isThere(as: name, in: root) else { throw SystemFailure(code: EEXIST) }
  }

  /// Whether the same bytes have the name already.
  ///
  /// - Throws: `EEXIST` if another file has it.
  borrowing func isThere(as name: RawPath, in root: RootFolder) throws(SystemFailure) -> Bool {
    // Another worker that has just named it still has it open.
    let there = try root.replaced(name.bytes, by: self, mayBeOpen: true, isInput: { _ in false }, { _ in false })
    guard let there else { return false }
    // Synced before it gets its name: a beginning is no worker's.
    guard there.byteCount == (try FileState(ofOpen: file)).byteCount else { throw SystemFailure(code: EEXIST) }
    return true
  }
}

/// The name of a line's files, without an extension: a path within the output.
struct SampleKey: Sendable {
  /// The most bytes of a key, so that names with sizes and extensions stay within the limits of file systems.
  static let longest = 200
  /// The digits of a key that is a number, as in img2dataset.
  private static let digits = 9

  let text: String

  /// The key of a line without one: its number, from 0.
  init(number: Int) {
    let text = String(number)
    self.text = String(repeating: "0", count: max(0, Self.digits - text.count)) + text
  }

  /// Checks a key of a line.
  ///
  /// - Parameter isInShard: Whether it is for a shard, in which the first dot of a name ends its key.
  init(_ text: String, isInShard: Bool) throws(LineFailure) {
    func refuse(_ reason: String) -> LineFailure {
      LineFailure(.line, "invalid-key", "the key cannot be used: \(reason); give another one")
    }
    if text.isEmpty { throw refuse("it is empty") }
    if text.utf8.count > Self.longest { throw refuse("it is longer than \(Self.longest) bytes") }
    if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw refuse("it holds a control character")
    }
    // In UTF-8, as the file system reads it: a slash with a combining mark is one Character, which does not equal a
    // slash.
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    if parts.contains(where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) {
      throw refuse("it leads out of the output")
    }
    if parts.contains(where: { $0.starts(with: NamingTemplate.reservedPrefix) }) {
      throw refuse("names that begin with .thumbs- are reserved")
    }
    if isInShard, parts.last?.contains(UInt8(ascii: ".")) == true { throw refuse("in a shard, a dot ends a key") }
    self.text = text
  }
}
