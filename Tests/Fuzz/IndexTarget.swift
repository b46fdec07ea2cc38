import Foundation

@testable import FolderConversion
@testable import ThumbnailCore

/// The index of an output folder, which may be a stranger's: the input stands behind its first line. Whatever it says,
/// nothing outside of the folder is touched, and what it has is read the same when it is written again.
func fuzzIndex(_ input: FuzzInput) {
  do {
    let fixture = try IndexFixture.get()
    try fixture.reset(index: input.bytes)
    let folder = try OutputFolder(fixture.path)
    for orphan in folder.index.orphans([]) {
      let read = IndexEntry(line: orphan.line.dropLast())
      require(read == orphan || orphan.outputs.isEmpty, "\(orphan) is read as \(String(describing: read))")
      require(orphan.byteCount >= 0, "a source of \(orphan.byteCount) bytes")
      _ = orphan.source.mayBeAway(since: orphan.disk)
      for output in orphan.outputs { _ = folder.remove(output.path.bytes, of: orphan.source) { _ in false } }
    }
    folder.index.noteFolder([])
    folder.index.finish()
    require(folder.index.failure == nil, "the index cannot be written")
    folder.release()
    fixture.check()
  } catch {
    failFuzzing("\(error)")
  }
}

/// An output folder beside a user's, with links to that, and a mount's worth of files with the names of thumbnails.
private struct IndexFixture: Sendable {
  private let root: String
  var path: RawPath { RawPath(root + "/out") }

  private static let shared = Result { try IndexFixture() }
  static func get() throws -> IndexFixture { try shared.get() }

  private init() throws {
    root = FileManager.default.temporaryDirectory.appendingPathComponent("fuzz-index-\(getpid())").path
    try FileManager.default.createDirectory(atPath: root + "/own/x", withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: root + "/out/x", withIntermediateDirectories: true)
    for name in Self.names { try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(root)/own/\(name)")) }
    try FileManager.default.createSymbolicLink(atPath: root + "/out/l", withDestinationPath: "../own")
  }

  private static let names = ["a", "x/a", ".thumbs-0.tmp", "x/.thumbs-1.tmp"]

  func reset(index: [UInt8]) throws {
    for name in Self.names { try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(root)/out/\(name)")) }
    try Data("thumbs index 1\n".utf8 + index).write(to: URL(fileURLWithPath: root + "/out/.thumbs-index"))
  }

  func check() {
    for name in Self.names {
      let there = try? Data(contentsOf: URL(fileURLWithPath: "\(root)/own/\(name)"))
      require(there == Data("mine".utf8), "\(name) of the user is gone")
    }
  }
}
