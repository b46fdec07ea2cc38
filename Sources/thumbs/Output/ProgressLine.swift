import Foundation
import Synchronization
import Thumbnailer

/// One line on the terminal with counts, rate, bytes, time left and memory; redrawn eight times a second and gone
/// when done.
final class ProgressLine: Sendable {
  /// What the line shows.
  struct Values: Sendable {
    var done = 0
    var failed = 0
    /// How many there will be, once that is known.
    var expected: Int?
    /// Nil where nothing is downloaded.
    var downloadedBytes: Int? = 0
  }

  private let title: String
  private let console: Console
  private let started = ContinuousClock.now
  private let values = Mutex(Values())
  private let drawing = Mutex<Task<Void, Never>?>(nil)

  init(title: String, console: Console) {
    self.title = PlainText.line(title)
    self.console = console
  }

  /// Starts drawing.
  func start() {
    drawing.withLock {
      $0 = Task { [weak self] in
        while !Task.isCancelled {
          guard let self else { return }
          console.showProgress(text())
          try? await Task.sleep(for: .milliseconds(125))
        }
      }
    }
  }

  /// Changes what will be drawn next.
  func update(_ change: (inout sending Values) -> Void) {
    values.withLock { change(&$0) }
  }

  /// Stops drawing and takes the line away.
  func stop() async {
    let task = drawing.withLock { $0 }
    task?.cancel()
    await task?.value
    if task != nil { console.showProgress("") }
  }

  private func text() -> String {
    let values = values.withLock { $0 }
    let seconds = (ContinuousClock.now - started).seconds
    let rate = seconds > 0 ? Double(values.done) / seconds : 0
    var parts = ["\(values.done)" + (values.expected.map { "/\($0)" } ?? "")]
    if values.failed > 0 { parts.append("\(values.failed) failed") }
    parts.append("\(rate.rounded(toPlaces: 1))/s")
    if let bytes = values.downloadedBytes { parts.append(ByteSize(bytes: bytes).description) }
    if let expected = values.expected, expected > values.done, rate > 0 {
      parts.append("\(Int((Double(expected - values.done) / rate).rounded(.up))) s left")
    }
    parts.append("memory \(ByteSize(bytes: ProcessMemory.current))")
    return String("\(title)  \(parts.joined(separator: "  "))".prefix(Self.width - 1))
  }

  /// The terminal's width in columns; 80 where it does not say.
  private static var width: Int {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
