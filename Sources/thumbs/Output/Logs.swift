import Foundation
import Logging

/// The logging of the library.
enum Logs {
  /// Sends all logs to stderr with `verbose`, else discards them, since the command prints its own messages for the
  /// user.
  static func start(verbose: Bool, console: Console) {
    LoggingSystem.bootstrap { label in
      guard verbose else { return SwiftLogNoOpLogHandler() }
      return ConsoleLogHandler(label: label, console: console)
    }
  }
}

/// Writes log lines through the console, which removes passwords and control characters.
private struct ConsoleLogHandler: LogHandler {
  let label: String
  let console: Console
  var logLevel = Logger.Level.debug
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    console.complain("\(event.level) \(label): \(PlainText.withoutQueries("\(event.message)"))")
  }
}
