import CCurl
import Foundation
import Synchronization
import ThumbnailCore

/// Where a body that outgrows memory may go.
enum SpillPlace: Sendable {
  /// A file that somebody else opens, or does not.
  case given(@Sendable () -> FileDescriptor?)
  /// A new file without a name in a directory.
  case directory(String)
  /// A new file in memory, whose bytes are lent by the limiter.
  case memory(ByteSemaphore)

  /// The places to try, in their order.
  static func all(in directories: [String], _ memory: ByteSemaphore?) -> [SpillPlace] {
    directories.map { .directory($0) } + (memory.map { [.memory($0)] } ?? [])
  }

  /// A file to write to, gone with its last descriptor even when the process is killed, and what it takes of the memory
  /// budget. Nil when the place is none.
  func open() throws(SpillFailure) -> (FileDescriptor, MemoryLoan?)? {
    switch self {
    case .given(let open): return open().map { ($0, nil) }
    case .directory(let directory):
      do throws(SystemFailure) {
        return (try FileDescriptor.unnamed(in: directory), nil)
      } catch {
        throw SpillFailure(place: directory, reason: error.reason)
      }
    case .memory(let limiter):
      let descriptor = ccurl_memory_file("thumbnailer-body")
      guard descriptor >= 0 else { throw SpillFailure(place: "memory") }
      let loan = MemoryLoan(limiter)
      return (FileDescriptor(owning: descriptor, keeping: loan), loan)
    }
  }
}

/// Why a place takes no more of a body.
struct SpillFailure: Error {
  let place: String
  let reason: String

  init(place: String, reason: String) { (self.place, self.reason) = (place, reason) }

  /// What the last system call said.
  init(place: String) { self.init(place: place, reason: String(cString: strerror(errno))) }
}

/// What a file in memory takes of the memory budget. It goes back when the file is closed.
final class MemoryLoan: Sendable {
  /// A body of unknown length takes so much more at a time.
  private static let step = 1 << 20

  private let limiter: ByteSemaphore
  private let shares = Mutex<[ByteSemaphore.Reservation]>([])

  init(_ limiter: ByteSemaphore) { self.limiter = limiter }

  /// Sees to it that so many bytes are lent.
  func cover(_ bytes: Int) throws(SpillFailure) {
    let isCovered = shares.withLock { shares in
      let missing = bytes - shares.reduce(0) { $0 + $1.bytes }
      if missing <= 0 { return true }
      let wanted = shares.isEmpty ? missing : max(missing, Self.step)
      guard let share = limiter.lend(wanted) ?? limiter.lend(missing) else { return false }
      shares.append(share)
      return true
    }
    if !isCovered { throw SpillFailure(place: "memory", reason: "the memory budget is used up") }
  }
}

extension FileDescriptor {
  /// Writes bytes at an offset.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SpillFailure) {
    var written = 0
    while written < bytes.count {
      let count = pwrite(
        rawValue, bytes.baseAddress.map { $0 + written }, bytes.count - written, off_t(offset + written))
      if count < 0 {
        let code = errno
        if code == EINTR { continue }
        throw SpillFailure(place: directory ?? "memory", reason: String(cString: strerror(code)))
      }
      written += count
    }
  }

  /// Writes a body from the file's beginning on.
  func write(_ body: ByteSource) throws(SpillFailure) {
    var offset = 0
    while offset < body.count {
      guard let piece = try? body.read(at: offset, length: 256 << 10), !piece.isEmpty else {
        throw SpillFailure(place: directory ?? "memory", reason: "what was written cannot be read back")
      }
      // Rethrown by hand: `withUnsafeBytes` does not know typed errors.
      let result = piece.withUnsafeBytes { bytes in
        Result { () throws(SpillFailure) in try write(bytes, at: offset) }
      }
      try result.get()
      offset += piece.count
    }
  }

  /// The directory that the file is in, for messages.
  private var directory: String? {
    guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(rawValue)"),
      path.hasPrefix("/"), let end = path.lastIndex(of: "/"), end > path.startIndex
    else { return nil }
    return String(path[..<end])
  }
}
