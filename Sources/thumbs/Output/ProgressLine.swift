import Foundation
import Synchronization
import ThumbnailCore
import Thumbnailer

/// A line on the terminal with counts, rate, bytes, time left and memory; redrawn eight times a second and removed at
/// the end.
final class ProgressLine: Sendable {
  /// The values shown.
  struct Values: Sendable {
    var done = 0
    var failed = 0
    /// The expected total, once it is known.
    var expected: Int?
    /// Nil if nothing is downloaded.
    var downloadedBytes: Int? = 0
  }

  private let title: String
  private let console = Console.standard
  private let waitingFor: @Sendable () -> [String: Int]
  private let started = ContinuousClock.now
  private let values = Mutex(Values())
  private let drawing = Mutex<Task<Void, Never>?>(nil)

  /// - Parameter waitingFor: Called for each drawing: the number of images by host if all remaining work waits for
  ///   these hosts, else empty.
  init(title: String, waitingFor: @escaping @Sendable () -> [String: Int] = { [:] }) {
    self.title = PlainText.line(title)
    self.waitingFor = waitingFor
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

  /// Changes the values of the next drawing.
  func update(_ change: (inout sending Values) -> Void) {
    values.withLock { change(&$0) }
  }

  /// Stops drawing and removes the line.
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
    if let waiting = Self.words(for: waitingFor()) {
      parts.append(waiting)
    } else if let expected = values.expected, expected > values.done, rate > 0 {
      parts.append("\(Int(bounded: (Double(expected - values.done) / rate).rounded(.up))) s left")
    }
    parts.append("memory \(ByteSize(bytes: ProcessMemory.current))")
    return String("\(title)  \(parts.joined(separator: "  "))".prefix(width - 1))
  }

  /// `waiting for 3 from images.example.org`; nil if `hosts` is empty.
  private static func words(for hosts: [String: Int]) -> String? {
    let sorted = hosts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    guard let first = sorted.first else { return nil }
    let rest = sorted.dropFirst()
    let others = rest.isEmpty ? "" : ", \(rest.reduce(0) { $0 + $1.value }) from \(rest.count) more"
    return "waiting for \(first.value) from \(PlainText.line(first.key))\(others)"
  }

  /// The terminal's width in columns; 80 if unknown.
  private var width: Int {
    var size = winsize()
    return ioctl(console.error, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
