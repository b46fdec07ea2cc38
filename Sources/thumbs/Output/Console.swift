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

  /// Whether the progress line is on the screen now.
  private let isProgressShown = Mutex(false)
  /// Whether lines on stdout come to the same screen as the progress line.
  private let printsToTerminal = isatty(STDOUT_FILENO) == 1

  /// Writes a line to stdout.
  func print(_ line: String) throws(WriteError) {
    let result = isProgressShown.withLock { isShown in
      if isShown, printsToTerminal { Self.erase(&isShown) }
      return Result { () throws(WriteError) in try Self.write(Array((line + "\n").utf8), to: STDOUT_FILENO) }
    }
    try result.get()
  }

  /// Writes raw bytes to stdout.
  func print(bytes: Data) throws(WriteError) {
    try Self.write(Array(bytes), to: STDOUT_FILENO)
  }

  /// Writes a line that starts with the command's name to stderr, without the passwords in it. What stderr does not take
  /// is lost: there is no better place to say so.
  func complain(_ line: String) {
    isProgressShown.withLock { isShown in
      if isShown { Self.erase(&isShown) }
      try? Self.write(Array("thumbs: \(PlainText.line(line))\n".utf8), to: STDERR_FILENO)
    }
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
    isProgressShown.withLock { isShown in
      // The end of a longer line before it is taken away after the new one is drawn: nothing flickers.
      let bytes = text.isEmpty ? (isShown ? "\r\u{1B}[K" : "") : "\r\(text)\u{1B}[K"
      isShown = !text.isEmpty
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
