public import Foundation

/// A folder that thumbnails are copied into, by one run at a time.
///
/// Each is written under a temporary name and takes its own when it is complete. What is there stays, unless it may be
/// replaced. The methods block for as long as the disk takes, and are for one thread.
public final class ExportFolder: Sendable {
  /// What became of a thumbnail.
  public enum Outcome: Sendable {
    case written
    /// There is a file of that name, which stays.
    case exists
  }

  /// Where it is.
  public let path: RawPath
  private let replaces: Bool
  /// Open for the lock on it.
  private let lock: FileDescriptor
  private let temporary: RawPath

  /// Makes the folder where it is not there, and takes hold of it.
  ///
  /// - Parameter replacesFiles: Whether files that are there may be replaced.
  /// - Throws: `.cannotWrite`, `.busy`.
  public init(_ path: RawPath, replacesFiles: Bool = false) throws(ConversionError) {
    self.path = path
    replaces = replacesFiles
    do throws(SystemFailure) {
      try OutputFolder.makeFolders(path)
    } catch {
      throw .cannotWrite(path: path, reason: error.reason)
    }
    let descriptor = path.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .cannotWrite(path: path, reason: SystemFailure.last.reason) }
    lock = FileDescriptor(owning: descriptor)
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { throw .busy(path: path) }
    temporary = path.appending(OutputFolder.reservedPrefix + Array("export.tmp".utf8))
    // What a killed run has left.
    _ = temporary.withCString { unlink($0) }
  }

  /// Whether a thumbnail of that path would be left out, so that it need not be fetched.
  public func keeps(_ relative: RawPath) -> Bool {
    !replaces && (try? FileState(of: path.appending(relative.bytes), followingLinks: false)) != nil
  }

  /// Writes a thumbnail as a whole or not at all, and makes the folders that lead to it.
  ///
  /// - Throws: Why not. `endsRun` tells whether others would fare no better.
  public func write(_ data: Data, to relative: RawPath) throws(ExportFailure) -> Outcome {
    let target = path.appending(relative.bytes)
    do throws(SystemFailure) {
      try OutputFolder.makeFolders(RawPath(bytes: target.folder.dropLast()))
      return try write(data, relative, target)
    } catch {
      throw ExportFailure(path: target, failure: error)
    }
  }

  private func write(_ data: Data, _ relative: RawPath, _ target: RawPath) throws(SystemFailure) -> Outcome {
    let descriptor = OutputFolder.create(temporary)
    guard descriptor >= 0 else { throw .last }
    defer { _ = temporary.withCString { unlink($0) } }
    let result = Result { () throws(SystemFailure) in try OutputFolder.write(data, to: descriptor) }
    // Some file systems say only now that there was no room.
    guard close(descriptor) == 0 else { throw .last }
    try result.get()
    if replaces {
      try rename(to: target)
      return .written
    }
    // A link, unlike a rename, never takes the place of a file, whoever makes one at this moment.
    let linked = temporary.withCString { from in target.withCString { link(from, $0) } }
    if linked == 0 { return .written }
    switch errno {
    case EEXIST: return .exists
    case EPERM, EOPNOTSUPP, EMLINK:
      // A file system without links.
      if keeps(relative) { return .exists }
      try rename(to: target)
      return .written
    default: throw .last
    }
  }

  private func rename(to target: RawPath) throws(SystemFailure) {
    let result = temporary.withCString { from in target.withCString { Foundation.rename(from, $0) } }
    if result != 0 { throw .last }
  }
}

/// Why a thumbnail could not be written to a folder.
public struct ExportFailure: Error, Sendable, CustomStringConvertible {
  /// Where it should have gone.
  public let path: RawPath
  let failure: SystemFailure

  /// Whether what follows could not be written either: the disk is full, or cannot be written to.
  public var endsRun: Bool { failure.endsRun }

  /// What happened and what to do, in one line.
  public var description: String {
    "\(path) cannot be written: \(failure.reason); make room there, or choose another folder"
  }
}
