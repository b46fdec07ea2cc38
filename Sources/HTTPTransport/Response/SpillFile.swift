import CCurl
import Foundation
import Synchronization
import ThumbnailCore

/// A location for the spill file of a body that outgrows memory.
enum SpillLocation: Sendable {
  /// A named file for a later run; the closure opens it if possible.
  case named(@Sendable () -> StoredPartial?)
  /// A new unnamed file in a directory.
  case directory(String)
  /// A new file in memory (`memfd`), whose bytes the semaphore lends.
  case memory(WeightedSemaphore)
}

/// The file of a body. If a location has no room, the file moves to the next.
struct SpillFile: Sendable {
  /// The remaining locations, tried in order.
  var locations: [SpillLocation]
  /// The open file. Without a name it is deleted with its last descriptor, even if the process is killed.
  private(set) var file: FileDescriptor?
  /// Its name, while it has one.
  private(set) var stored: StoredPartial?
  /// Its share of the memory budget, if it is a file in memory.
  private(set) var loan: MemoryLoan?
  /// Its directory, for messages.
  private var place = ""
  private var firstFailure: DownloadError?
  /// Removes a named file that the body has left.
  var abandon: @Sendable (StoredPartial) -> Void = { _ in }

  init(_ locations: [SpillLocation]) { self.locations = locations }

  /// Continues an existing file.
  mutating func adopt(_ file: FileDescriptor, _ stored: StoredPartial?) {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file.rawValue)")
    place = path.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? ""
    (self.file, self.stored) = (file, stored)
  }

  /// Writes to the file. If the file moves to another location, its bytes are copied.
  ///
  /// - Parameters:
  ///   - former: The bytes so far.
  ///   - known: The ranges that hold data.
  ///   - length: The length of the file after writing.
  /// - Throws: `.cannotStoreBody`, with the first location's failure, when none has room.
  mutating func write(
    behind former: ByteSource, known: [Range<Int>], length: Int,
    _ write: (FileDescriptor) throws(SystemFailure) -> Void
  ) throws(DownloadError) {
    while true {
      do throws(SystemFailure) {
        if let file {
          try loan?.cover(length)
          return try write(file)
        }
      } catch {
        leave(after: error)
      }
      guard !locations.isEmpty else {
        throw firstFailure ?? .cannotStoreBody(path: "", reason: "no directory for large bodies")
      }
      do throws(SystemFailure) {
        try open(locations.removeFirst())
        try loan?.cover(length)
        for range in known {
          try file?.write(range.count == former.count ? former : former.part(range), at: range.lowerBound)
        }
      } catch {
        leave(after: error)
      }
    }
  }

  private mutating func leave(after failure: SystemFailure) {
    Log.download.debug("a body cannot continue in \(place): \(failure.reason)")
    firstFailure = firstFailure ?? .cannotStoreBody(path: place, reason: failure.reason)
    if let stored { abandon(stored) }
    (file, stored, loan) = (nil, nil, nil)
  }

  private mutating func open(_ location: SpillLocation) throws(SystemFailure) {
    switch location {
    case .named(let open):
      stored = open()
      (file, place) = (stored?.file, stored?.names.directory ?? "")
    case .directory(let directory):
      place = directory
      file = try .unnamed(in: directory)
    case .memory(let limiter):
      place = "memory"
      let descriptor = ccurl_memory_file("thumbnailer-body")
      guard descriptor >= 0 else { throw .last }
      let loan = MemoryLoan(limiter)
      (file, self.loan) = (FileDescriptor(owning: descriptor, keeping: loan), loan)
    }
  }
}

/// The share of the memory budget that a file in memory holds, returned when the file is closed.
final class MemoryLoan: Sendable {
  /// A body of unknown length reserves this many bytes at a time.
  private static let step = 1 << 20

  private let limiter: WeightedSemaphore
  private let shares = Mutex<[WeightedSemaphore.Reservation]>([])

  init(_ limiter: WeightedSemaphore) { self.limiter = limiter }

  /// Reserves until this many bytes are covered. Throws `ENOMEM` when the memory budget is used up.
  func cover(_ bytes: Int) throws(SystemFailure) {
    let isCovered = shares.withLock { shares in
      let missing = bytes - shares.reduce(0) { $0 + $1.permits }
      if missing <= 0 { return true }
      let wanted = shares.isEmpty ? missing : max(missing, Self.step)
      guard let share = limiter.lend(wanted) ?? limiter.lend(missing) else { return false }
      shares.append(share)
      return true
    }
    if !isCovered { throw SystemFailure(code: ENOMEM) }
  }
}

extension FileDescriptor {
  /// Writes a body at an offset.
  func write(_ body: ByteSource, at start: Int) throws(SystemFailure) {
    var offset = 0
    while offset < body.count {
      guard let piece = try? body.read(at: offset, length: 256 << 10), !piece.isEmpty else {
        throw SystemFailure(code: EIO)
      }
      try write(piece, at: start + offset)
      offset += piece.count
    }
  }
}
