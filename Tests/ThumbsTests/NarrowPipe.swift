/// A pipe with room for a page, which the test empties when it likes: a process that prints more waits, and so cannot end
/// before the test has done what it has to do meanwhile.
final class NarrowPipe {
  /// For the process to write to. The test lets it go with `closeWriteEnd` once the process has it.
  let writeEnd: Int32
  private let readEnd: Int32
  private var isWriteEndOpen = true
  private var text = Data()
  private var lineCount = 0

  init() throws {
    (readEnd, writeEnd) = makePipe()
    let setPipeSize: Int32 = 1031
    _ = fcntl(writeEnd, setPipeSize, 4096)
  }

  deinit {
    closeWriteEnd()
    close(readEnd)
  }

  func closeWriteEnd() {
    if isWriteEndOpen { close(writeEnd) }
    isWriteEndOpen = false
  }

  /// Reads until so many lines have come, or to the end; returns all that has come so far.
  @discardableResult
  func read(lines: Int = .max) -> Data {
    var buffer = [UInt8](repeating: 0, count: 512)
    while lineCount < lines {
      let count = Glibc.read(readEnd, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      text.append(contentsOf: buffer.prefix(count))
      lineCount += buffer.prefix(count).count { $0 == UInt8(ascii: "\n") }
    }
    return text
  }
}

extension ThumbsProcess {
  /// Whether it has taken the signals that were sent to it.
  var hasTakenSignals: Bool {
    let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    let pending = status.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }?.dropFirst("ShdPnd:".count)
    return pending?.allSatisfy { $0 == "0" || $0.isWhitespace } ?? true
  }
}
