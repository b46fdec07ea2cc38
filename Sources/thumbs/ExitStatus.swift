import ArgumentParser

/// The exit statuses of `thumbs`, from `sysexits.h` where possible.
extension ExitCode {
  /// Some images failed; the others are done.
  static let someFailed = ExitCode(1)
  /// The photo source could not be reached and nothing was fetched.
  static let sourceUnavailable = ExitCode(69)
  /// The output cannot be written.
  static let cannotWrite = ExitCode(73)

  /// Stopped by a signal, with all finished work kept: 128 + signal as in shells, 130 for Ctrl-C.
  static func stopped(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }
}
