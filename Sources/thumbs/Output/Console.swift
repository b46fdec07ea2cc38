import ArgumentParser
import Foundation
import Synchronization
import ThumbnailCore
import Thumbnailer

/// Where a command reads and prints. Writes whole lines, so that lines of several threads never mix, and removes the
/// progress line before each.
final class Console: Sendable {
  /// That of the process; a test that runs a command has one of its own.
  @TaskLocal static var standard: Console = Console(input: STDIN_FILENO, output: STDOUT_FILENO, error: STDERR_FILENO)

  /// The descriptors, which stay open.
  let (input, output, error): (Int32, Int32, Int32)

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

  init(input: Int32, output: Int32, error: Int32) { (self.input, self.output, self.error) = (input, output, error) }

  /// Writes a line to stdout, after the buffered ones.
  func print(_ line: String) throws(SystemFailure) {
    try state.withLock { state -> Result<Void, SystemFailure> in
      state.pending += "\(line)\n".utf8
      return writePending(&state)
    }.get()
  }

  /// Writes one of many lines to stdout: at once if they come slowly, in batches if they come by the thousand, because
  /// each write wakes the reader.
  func printSoon(_ line: String) throws(SystemFailure) {
    try state.withLock { state -> Result<Void, SystemFailure> in
      state.pending += "\(line)\n".utf8
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
    }.get()
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

  /// Writes `pending`. On an error its bytes are dropped.
  private func writePending(_ state: inout State) -> Result<Void, SystemFailure> {
    defer { state.pending.removeAll(keepingCapacity: true) }
    if let failure = state.failure { return .failure(failure) }
    guard !state.pending.isEmpty else { return .success(()) }
    // On a terminal, which they share.
    if state.isProgressShown, isatty(output) == 1 { erase(&state.isProgressShown) }
    state.lastWrite = .now
    return Result { [pending = state.pending] () throws(SystemFailure) in
      try NewFile.write(pending, to: output)
    }
  }

  /// Writes raw bytes to stdout.
  func print(bytes: Data) throws(SystemFailure) {
    try NewFile.write(bytes, to: output)
  }

  /// Writes a line to stderr, prefixed with the command's name, with secrets removed. Errors are ignored, because
  /// there is nowhere else to report them.
  func complain(_ line: String) {
    say("\(PlainText.line(line))\n")
  }

  private func say(_ text: String) {
    state.withLock { state in
      if state.isProgressShown { erase(&state.isProgressShown) }
      try? NewFile.write(Array("thumbs: \(text)".utf8), to: error)
    }
  }

  /// Prompts on stderr and reads the reply from stdin. Anything but `y` or `yes` means no.
  func ask(_ question: String, until isOver: () -> Bool) -> Bool {
    say("\(PlainText.line(question)) [y/N] ")
    var input = pollfd(fd: self.input, events: Int16(POLLIN), revents: 0)
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
      try? NewFile.write(Array(bytes.utf8), to: error)
    }
  }

  private func erase(_ isShown: inout Bool) {
    try? NewFile.write(Array("\r\u{1B}[K".utf8), to: error)
    isShown = false
  }
}
