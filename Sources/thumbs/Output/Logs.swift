import Logging

/// Where the library's logs go.
enum Logs {
  /// Sends them to stderr: everything with `verbose`; else nothing, for whatever concerns the user is said in words of
  /// our own.
  static func start(verbose: Bool) {
    LoggingSystem.bootstrap { label in
      guard verbose else { return SwiftLogNoOpLogHandler() }
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = .debug
      return handler
    }
  }
}
