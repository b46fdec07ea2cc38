import Foundation
import Synchronization
import ThumbnailCore

/// Writes the files of lines into a folder, each whole or not at all.
final class SampleFolder: Sendable {
  /// Several, so that some write while others wait for the disk.
  private static let threads = 8
  /// The most folders that are remembered.
  private static let mostFolders = 4096

  private let root: RawPath
  private let pool = WorkerPool(name: "thumbnailer.worker.files", threads: threads)
  /// The folders of keys that exist.
  private let folders = Mutex<Set<[UInt8]>>([])

  init(_ root: RawPath) { self.root = root }

  /// Writes all files of a line. Returns the time that it took.
  ///
  /// - Throws: `cannot-write`, naming the file.
  func write(_ files: [SampleFiles.File]) async throws(LineFailure) -> Duration {
    // The files are kept even if the line is cancelled.
    try await pool.runToEnd { [self] in
      Result { () throws(LineFailure) in
        let started = ContinuousClock.now
        for file in files { try write(file) }
        return ContinuousClock.now - started
      }
    }.get()
  }

  private func write(_ file: SampleFiles.File) throws(LineFailure) {
    let path = root.appending(file.name.utf8)
    do throws(SystemFailure) {
      try prepare(Array(path.folder))
      var new = try NewFile(path)
      try new.write(file.data)
      guard fsync(new.file.rawValue) == 0 else { throw .last }
      try new.commit()
    } catch {
      throw LineFailure(writing: path.description, error)
    }
  }

  /// Makes the folder of a key.
  private func prepare(_ folder: [UInt8]) throws(SystemFailure) {
    if folders.withLock({ $0.contains(folder) }) { return }
    try NewFile.makeFolders(RawPath(bytes: folder))
    folders.withLock { folders in
      if folders.count >= Self.mostFolders { folders.removeAll() }
      folders.insert(folder)
    }
  }
}
