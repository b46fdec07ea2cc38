import ArgumentParser
import Foundation
import Synchronization
import ThumbnailCore
import Thumbnailer

/// The standard output and error of the process. Writes whole lines, so that lines of several threads never mix, and
/// removes the progress line before each.
final class Console: Sendable {
  /// The only console: the process has one stdout and one stderr.
  static let standard = Console()

  private struct State {
    /// Whether the progress line is on the screen.
    var isProgressShown = false
    /// Buffered lines for stdout.
    var pending: [UInt8] = []
    /// When stdout was last written to.
    var lastWrite: ContinuousClock.Instant?
    /// Whether a flush of `pending` is scheduled.
    var isWriteScheduled = false
    /// The error of a scheduled flush, which the next print throws.
    var failure: SystemFailure?
  }

  /// How long, and up to how many bytes, lines are buffered.
  private static let patience = Duration.milliseconds(20)
  private static let batchBytes = 16 << 10

  private let state = Mutex(State())
  /// Whether stdout and the progress line share a terminal.
  private let printsToTerminal = isatty(STDOUT_FILENO) == 1

  /// Writes a line to stdout, after the buffered ones.
  func print(_ line: String) throws(SystemFailure) {
    let result = state.withLock { state in
      Self.add(line, to: &state)
      return writePending(&state)
    }
    try result.get()
  }

  /// Writes one of many lines to stdout: at once if they come slowly, in batches if they come by the thousand, because
  /// each write wakes the reader.
  func printSoon(_ line: String) throws(SystemFailure) {
    let result = state.withLock { state -> Result<Void, SystemFailure> in
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

  /// Writes the buffered lines.
  func finishPrinting() throws(SystemFailure) {
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

  /// Writes `pending`. On an error its bytes are dropped.
  private func writePending(_ state: inout State) -> Result<Void, SystemFailure> {
    defer { state.pending.removeAll(keepingCapacity: true) }
    if let failure = state.failure { return .failure(failure) }
    guard !state.pending.isEmpty else { return .success(()) }
    if state.isProgressShown, printsToTerminal { Self.erase(&state.isProgressShown) }
    state.lastWrite = .now
    return Result { [pending = state.pending] () throws(SystemFailure) in
      try NewFile.write(pending, to: STDOUT_FILENO)
    }
  }

  /// Writes raw bytes to stdout.
  func print(bytes: Data) throws(SystemFailure) {
    try NewFile.write(bytes, to: STDOUT_FILENO)
  }

  /// Writes a line to stderr, prefixed with the command's name, with secrets removed. Errors are ignored, because
  /// there is nowhere else to report them.
  func complain(_ line: String) {
    say("\(PlainText.line(line))\n")
  }

  private func say(_ text: String) {
    state.withLock { state in
      if state.isProgressShown { Self.erase(&state.isProgressShown) }
      try? NewFile.write(Array("thumbs: \(text)".utf8), to: STDERR_FILENO)
    }
  }

  /// Prompts on stderr and reads the reply from stdin. Anything but `y` or `yes` means no.
  func ask(_ question: String, until isOver: () -> Bool) -> Bool {
    say("\(PlainText.line(question)) [y/N] ")
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    while poll(&input, 1, 100) < 1 { if isOver() { return false } }
    return ["y", "yes"].contains(readLine()?.trimmingCharacters(in: .whitespaces).lowercased() ?? "")
  }

  /// Prints the message of a failure, if there is one, and returns the exit status.
  func report(_ failure: CommandFailure) -> ExitCode {
    if let message = failure.message { complain(message) }
    return failure.status
  }

  /// Draws the progress line in place of the last one; an empty text removes it.
  ///
  /// After a line was printed, the progress line reappears only with the next call, so that it is never drawn more
  /// often than this is called.
  func showProgress(_ text: String) {
    state.withLock { state in
      // Drawing first and then erasing to the end of the line avoids flicker.
      let bytes = text.isEmpty ? (state.isProgressShown ? "\r\u{1B}[K" : "") : "\r\(text)\u{1B}[K"
      state.isProgressShown = !text.isEmpty
      try? NewFile.write(Array(bytes.utf8), to: STDERR_FILENO)
    }
  }

  private static func erase(_ isShown: inout Bool) {
    try? NewFile.write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
    isShown = false
  }
}
