import Foundation
import Synchronization
import ThumbnailCore
import Thumbnailer

/// A text file that is written incrementally under no name or a temporary one, and gets its name at the end.
final class ReportFile: Sendable {
  /// The error of writing a report.
  struct Failure: Error {
    let path: String
    let reason: String

    init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

    /// A failure with the system's message.
    init(path: String, _ failure: SystemFailure) { self.init(path: path, reason: failure.reason) }

    /// The message with advice.
    ///
    /// - Parameter other: What to choose instead, such as “another --sheet”.
    func message(choose other: String) -> String {
      let isFull = reason == String(cString: strerror(ENOSPC))
      return "\(path) cannot be written: \(reason); \(isFull ? "make room there, or " : "")choose \(other)"
    }
  }

  private struct State: ~Copyable {
    /// Nil once it is complete, or could not be completed.
    var file: OutputFile?
    var pending: [UInt8] = []

    mutating func flush() throws(SystemFailure) {
      try file?.write(pending)
      pending.removeAll(keepingCapacity: true)
    }
  }

  let path: String
  private let state: Mutex<State>

  /// Creates the file, without its final name; a device or a named pipe is written to directly.
  init(path: String) throws(Failure) {
    self.path = path
    do throws(SystemFailure) {
      state = Mutex(State(file: try OutputFile(path)))
    } catch {
      throw Failure(path: path, error)
    }
  }

  /// Appends text.
  func write(_ text: String) throws(Failure) {
    try changing { state throws(SystemFailure) in
      state.pending += text.utf8
      if state.pending.count >= 64 << 10 { try state.flush() }
    }
  }

  /// Writes the buffer and gives the file its name.
  func finish() throws(Failure) {
    try changing { state throws(SystemFailure) in
      defer { state.file = nil }
      try state.flush()
      try state.file?.commit()
    }
  }

  private func changing(_ change: (inout State) throws(SystemFailure) -> Void) throws(Failure) {
    do throws(SystemFailure) {
      try state.withLock { state throws(SystemFailure) in try change(&state) }
    } catch {
      throw Failure(path: path, error)
    }
  }
}
