import ArgumentParser
import Foundation
import Synchronization

/// The process's two outputs. Whole lines only, so that lines of several threads never mix; the progress line, if there
/// is one, steps aside for each.
final class Console: Sendable {
  /// Why a line could not be written.
  enum WriteError: Error {
    /// Nobody reads any more, as after `| head`.
    case closed
    /// The output is a file on a full disk, or the like.
    case failed(reason: String)
  }

  private struct State {
    /// Whether the progress line is on the screen now.
    var isProgressShown = false
    /// Lines for stdout that wait for others to be written with them.
    var pending: [UInt8] = []
    /// When stdout was last written to.
    var lastWrite: ContinuousClock.Instant?
    /// Whether somebody will write what is pending.
    var isWriteScheduled = false
    /// Why what was pending could not be written, for the next to print.
    var failure: WriteError?
  }

  /// For how long a line of many may wait for others, and how many bytes of them.
  private static let patience = Duration.milliseconds(20)
  private static let batchBytes = 16 << 10

  private let state = Mutex(State())
  /// Whether lines on stdout come to the same screen as the progress line.
  private let printsToTerminal = isatty(STDOUT_FILENO) == 1

  /// Writes a line to stdout, after those that wait.
  func print(_ line: String) throws(WriteError) {
    let result = state.withLock { state in
      Self.add(line, to: &state)
      return writePending(&state)
    }
    try result.get()
  }

  /// Writes one of many lines to stdout: at once where they come slowly, a few together where they come by the thousand,
  /// since each write wakes whoever reads.
  func printSoon(_ line: String) throws(WriteError) {
    let result = state.withLock { state -> Result<Void, WriteError> in
      Self.add(line, to: &state)
      let isDue = state.lastWrite.map { ContinuousClock.now - $0 >= Self.patience } ?? true
      if isDue || state.failure != nil || state.pending.count >= Self.batchBytes { return writePending(&state) }
      if !state.isWriteScheduled {
        state.isWriteScheduled = true
        Task { [self] in
          try? await Task.sleep(for: Self.patience)
          writeScheduled()
        }
      }
      return .success(())
    }
    try result.get()
  }

  /// Writes the lines that wait.
  func finishPrinting() throws(WriteError) {
    try state.withLock { writePending(&$0) }.get()
  }

  private func writeScheduled() {
    state.withLock { state in
      state.isWriteScheduled = false
      guard state.failure == nil, case .failure(let failure) = writePending(&state) else { return }
      state.failure = failure
    }
  }

  private static func add(_ line: String, to state: inout State) {
    state.pending.append(contentsOf: line.utf8)
    state.pending.append(UInt8(ascii: "\n"))
  }

  /// Writes what is pending. What cannot be written is given up.
  private func writePending(_ state: inout State) -> Result<Void, WriteError> {
    defer { state.pending.removeAll(keepingCapacity: true) }
    if let failure = state.failure { return .failure(failure) }
    guard !state.pending.isEmpty else { return .success(()) }
    if state.isProgressShown, printsToTerminal { Self.erase(&state.isProgressShown) }
    state.lastWrite = .now
    return Result { [pending = state.pending] () throws(WriteError) in try Self.write(pending, to: STDOUT_FILENO) }
  }

  /// Writes raw bytes to stdout.
  func print(bytes: Data) throws(WriteError) {
    try Self.write(Array(bytes), to: STDOUT_FILENO)
  }

  /// Writes a line that starts with the command's name to stderr, without the passwords in it. What stderr does not take
  /// is lost: there is no better place to say so.
  func complain(_ line: String) {
    state.withLock { state in
      if state.isProgressShown { Self.erase(&state.isProgressShown) }
      try? Self.write(Array("thumbs: \(PlainText.line(line))\n".utf8), to: STDERR_FILENO)
    }
  }

  /// Asks on stderr and reads the answer from stdin. Anything but `y` or `yes` is a no.
  func ask(_ question: String) -> Bool {
    state.withLock { state in
      if state.isProgressShown { Self.erase(&state.isProgressShown) }
      try? Self.write(Array("thumbs: \(PlainText.line(question)) [y/N] ".utf8), to: STDERR_FILENO)
    }
    return ["y", "yes"].contains(readLine()?.trimmingCharacters(in: .whitespaces).lowercased() ?? "")
  }

  /// Says why stdout could not be written, unless nobody reads it, and gives the status to end with.
  func cannotPrint(_ error: WriteError, _ consequence: String = "make room, or send the output elsewhere") -> ExitCode {
    if case .failed(let reason) = error { complain("stdout cannot be written: \(reason); \(consequence)") }
    return .cannotWrite
  }

  /// Draws the progress line in place of the last one. Empty: takes it away.
  ///
  /// A line that had to step aside comes back with the next call, so that it is never drawn more often than this is
  /// called.
  func showProgress(_ text: String) {
    state.withLock { state in
      // The end of a longer line before it is taken away after the new one is drawn: nothing flickers.
      let bytes = text.isEmpty ? (state.isProgressShown ? "\r\u{1B}[K" : "") : "\r\(text)\u{1B}[K"
      state.isProgressShown = !text.isEmpty
      try? Self.write(Array(bytes.utf8), to: STDERR_FILENO)
    }
  }

  private static func erase(_ isShown: inout Bool) {
    try? write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
    isShown = false
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(WriteError) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
      }
      if written < 0 {
        if errno == EINTR { continue }
        if errno == EPIPE { throw .closed }
        throw .failed(reason: String(cString: strerror(errno)))
      }
      done += written
    }
  }
}

extension NSError {
  /// The reason of a file error in the system's own words, without the path, which the message names itself.
  var plainReason: String {
    if let underlying = userInfo[NSUnderlyingErrorKey] as? NSError { return underlying.plainReason }
    if domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(code))) }
    return localizedDescription
  }
}
