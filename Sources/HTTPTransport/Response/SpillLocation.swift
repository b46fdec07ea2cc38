import CCurl
import Foundation
import Synchronization
import ThumbnailCore

/// A location for the spill file of a body that outgrows memory.
enum SpillLocation: Sendable {
  /// A file that the closure opens, if it can.
  case given(@Sendable () -> FileDescriptor?)
  /// A new unnamed file in a directory.
  case directory(String)
  /// A new file in memory (`memfd`), whose bytes the semaphore lends.
  case memory(WeightedSemaphore)

  /// Opens a file that is deleted with its last descriptor, even when the process is killed, and its share of the
  /// memory budget. Nil when the location is not available.
  func open() throws(SpillFailure) -> (FileDescriptor, MemoryLoan?)? {
    switch self {
    case .given(let open): return open().map { ($0, nil) }
    case .directory(let directory):
      do throws(SystemFailure) {
        return (try FileDescriptor.unnamed(in: directory), nil)
      } catch {
        throw SpillFailure(location: directory, reason: error.reason)
      }
    case .memory(let limiter):
      let descriptor = ccurl_memory_file("thumbnailer-body")
      guard descriptor >= 0 else { throw SpillFailure(location: "memory") }
      let loan = MemoryLoan(limiter)
      return (FileDescriptor(owning: descriptor, keeping: loan), loan)
    }
  }
}

/// Why a location cannot take more of a body.
struct SpillFailure: Error {
  let location: String
  let reason: String

  init(location: String, reason: String) { (self.location, self.reason) = (location, reason) }

  /// With the message of `errno`.
  init(location: String) { self.init(location: location, reason: String(cString: strerror(errno))) }
}

/// The share of the memory budget that a file in memory holds, returned when the file is closed.
final class MemoryLoan: Sendable {
  /// A body of unknown length reserves this much at a time.
  private static let step = 1 << 20

  private let limiter: WeightedSemaphore
  private let shares = Mutex<[WeightedSemaphore.Reservation]>([])

  init(_ limiter: WeightedSemaphore) { self.limiter = limiter }

  /// Reserves until this many bytes are covered.
  func cover(_ bytes: Int) throws(SpillFailure) {
    let isCovered = shares.withLock { shares in
      let missing = bytes - shares.reduce(0) { $0 + $1.permits }
      if missing <= 0 { return true }
      let wanted = shares.isEmpty ? missing : max(missing, Self.step)
      guard let share = limiter.lend(wanted) ?? limiter.lend(missing) else { return false }
      shares.append(share)
      return true
    }
    if !isCovered { throw SpillFailure(location: "memory", reason: "the memory budget is used up") }
  }
}

extension FileDescriptor {
  /// Writes bytes of a body at an offset.
  func spill(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SpillFailure) {
    do throws(SystemFailure) {
      try write(bytes, at: offset)
    } catch {
      throw SpillFailure(location: directory ?? "memory", reason: error.reason)
    }
  }

  /// Writes a body at an offset, by default from the file's start.
  func spill(_ body: ByteSource, at start: Int = 0) throws(SpillFailure) {
    var offset = 0
    while offset < body.count {
      guard let piece = try? body.read(at: offset, length: 256 << 10), !piece.isEmpty else {
        throw SpillFailure(location: directory ?? "memory", reason: "what was written cannot be read back")
      }
      // Rethrown by hand: `withUnsafeBytes` does not support typed throws.
      let result = piece.withUnsafeBytes { bytes in
        Result { () throws(SpillFailure) in try spill(bytes, at: start + offset) }
      }
      try result.get()
      offset += piece.count
    }
  }

  /// Makes an empty file so long, without taking room on disk.
  func extend(to length: Int) throws(SpillFailure) {
    guard ftruncate(rawValue, off_t(length)) == 0 else { throw SpillFailure(location: directory ?? "memory") }
  }

  /// The directory that the file is in, for messages.
  private var directory: String? {
    guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(rawValue)"),
      path.hasPrefix("/"), let end = path.lastIndex(of: "/"), end > path.startIndex
    else { return nil }
    return String(path[..<end])
  }
}
