import Foundation
import Logging

/// Where the library's logs go.
enum Logs {
  /// Sends them to stderr: everything with `verbose`; else nothing, for whatever concerns the user is said in words of
  /// our own.
  static func start(verbose: Bool, console: Console) {
    LoggingSystem.bootstrap { label in
      guard verbose else { return SwiftLogNoOpLogHandler() }
      return ConsoleLogHandler(label: label, console: console)
    }
  }
}

/// Writes log lines among the command's own ones, with the same care for passwords and terminals.
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
