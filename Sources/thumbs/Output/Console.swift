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

  private let progress = Mutex<String>("")

  /// Writes a line to stdout.
  func print(_ line: String) throws(WriteError) {
    let shown = progress.withLock { text in
      if !text.isEmpty { Self.erase() }
      let result = Result { () throws(WriteError) in try Self.write(Array((line + "\n").utf8), to: STDOUT_FILENO) }
      if !text.isEmpty { Self.draw(text) }
      return result
    }
    try shown.get()
  }

  /// Writes raw bytes to stdout.
  func print(bytes: Data) throws(WriteError) {
    try Self.write(Array(bytes), to: STDOUT_FILENO)
  }

  /// Writes a line that starts with the command's name to stderr. What stderr does not take is lost: there is no better
  /// place to say so.
  func complain(_ line: String) {
    progress.withLock { text in
      if !text.isEmpty { Self.erase() }
      try? Self.write(Array("thumbs: \(line)\n".utf8), to: STDERR_FILENO)
      if !text.isEmpty { Self.draw(text) }
    }
  }

  /// Draws the progress line in place of the last one. Empty: takes it away.
  func showProgress(_ text: String) {
    progress.withLock { shown in
      if !shown.isEmpty { Self.erase() }
      shown = text
      if !text.isEmpty { Self.draw(text) }
    }
  }

  private static func draw(_ text: String) { try? write(Array(text.utf8), to: STDERR_FILENO) }
  private static func erase() { try? write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO) }

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

extension Console.WriteError {
  /// The reason in words.
  var reason: String {
    switch self {
    case .closed: "nobody reads it"
    case .failed(let reason): reason
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
