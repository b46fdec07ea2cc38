import Foundation
import Synchronization

/// A text file that is written incrementally under no name or a temporary one, and gets its name at the end.
final class ReportFile: Sendable {
  /// The error of writing a report.
  struct Failure: Error {
    let path: String
    let reason: String

    init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

    /// A failure with the system's message.
    init(path: String, _ error: any Error) { self.init(path: path, reason: (error as NSError).plainReason) }

    /// The message with advice.
    ///
    /// - Parameter other: What to choose instead, such as “another --sheet”.
    func message(choose other: String) -> String {
      let isFull = reason == String(cString: strerror(ENOSPC))
      return "\(path) cannot be written: \(reason); \(isFull ? "make room there, or " : "")choose \(other)"
    }
  }

  let path: String
  private let place: OutputFile.Place
  private let state: Mutex<(descriptor: Int32, pending: [UInt8])>

  /// Creates the file, without its final name; a device or a named pipe is written to directly.
  init(path: String) throws(Failure) {
    self.path = path
    do {
      place = try OutputFile.Place(path)
    } catch {
      throw Failure(path: path, error)
    }
    state = Mutex((place.descriptor, []))
  }

  deinit {
    guard state.withLock(\.descriptor) >= 0 else { return }
    end()
    place.discard()
  }

  /// Appends text.
  func write(_ text: String) throws(Failure) {
    let failure = state.withLock { state -> Int32? in
      state.pending += text.utf8
      return state.pending.count < 64 << 10 ? nil : Self.flush(&state)
    }
    if let failure { throw Failure(path: path, reason: String(cString: strerror(failure))) }
  }

  /// Writes the buffer and gives the file its name.
  func finish() throws(Failure) {
    do {
      let failure = state.withLock { state -> Int32? in
        if let failure = Self.flush(&state) { return failure }
        // Some file systems report a lack of space only when a descriptor is closed.
        let other = dup(state.descriptor)
        return other >= 0 && close(other) == 0 ? nil : errno
      }
      if let failure { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
      try place.commit()
      end()
    } catch {
      end()
      place.discard()
      throw Failure(path: path, error)
    }
  }

  private func end() {
    state.withLock { state in
      if state.descriptor >= 0 { close(state.descriptor) }
      state.descriptor = -1
    }
  }

  private static func flush(_ state: inout (descriptor: Int32, pending: [UInt8])) -> Int32? {
    do throws(POSIXError) {
      try OutputFile.write(state.pending, to: state.descriptor)
    } catch {
      return error.code.rawValue
    }
    state.pending.removeAll(keepingCapacity: true)
    return nil
  }
}
