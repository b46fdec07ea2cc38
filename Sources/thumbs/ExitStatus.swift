import ArgumentParser
import FolderConversion
import Glibc
import PhotoSources
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// The exit statuses of `thumbs`, from `sysexits.h` where possible.
extension ExitCode {
  /// Some images failed; the others are done.
  static let someFailed = ExitCode(1)
  /// More lines of a worker failed than allowed; the others are done.
  static let tooManyFailures = ExitCode(3)
  /// The photo source could not be reached and nothing was fetched, or no server is ready.
  static let sourceUnavailable = ExitCode(69)
  /// The output cannot be written, or the address of a server not be listened on.
  static let cannotWrite = ExitCode(73)

  /// Stopped by a signal, with all finished work kept: 128 + signal as in shells, 130 for Ctrl-C.
  static func stopped(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }

  /// Throws the status, which ends the command, unless it is `success`.
  func end() throws { if self != .success { throw self } }
}

/// The end of a command: its exit status, and the message for the user unless it has been printed.
struct CommandFailure: Error {
  let status: ExitCode
  let message: String?

  init(_ status: ExitCode, _ message: String? = nil) { (self.status, self.message) = (status, message) }

  /// The failure for an error of the library, of a file or of stdout.
  ///
  /// - Parameters:
  ///   - kept: The unaffected results, such as “what was fetched is kept in the cache”.
  ///   - other: The alternative to a file that cannot be written, such as “another --sheet”.
  ///   - isOffline: Whether photo sources may not be contacted.
  init(_ error: any Error, keeping kept: String? = nil, choose other: String? = nil, isOffline: Bool = false) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as ProviderError: self.init(error.exitCode, error.shownMessage(offline: isOffline))
    case let error as ThumbnailError: self.init(.validationFailure, error.shownMessage)
    case let error as ConversionError: self.init(error.exitCode, Advice.withOptions(error.message))
    case let error as DiskCacheError: self.init(.cannotWrite, "\(error)")
    case let error as FileWriteError:
      self.init(.cannotWrite, error.message(choose: other ?? "another place") + (kept.map { "; \($0)" } ?? ""))
    // The reader has closed the pipe, as after `| head`.
    case let error as SystemFailure where error.code == EPIPE: self.init(.cannotWrite)
    case let error as SystemFailure:
      self.init(
        .cannotWrite, "stdout cannot be written: \(error.reason); \(kept ?? "make room, or send the output elsewhere")")
    default: self.init(.someFailed, "\(error)")
    }
  }

  /// The end for an error that a command or the argument parser has thrown. With success, the message is a help or the
  /// version, for stdout.
  ///
  /// - Parameter arguments: The command line, including the program's name.
  init(thrown error: any Error, arguments: [String]) {
    switch error {
    case is CommandFailure, is SystemFailure, is DiskCacheError, is ThumbnailError: self.init(error)
    default:
      let status = Thumbs.exitCode(for: error)
      // For the help of an unknown command, the parser prints the general help.
      let mayBeMisspelt = status == .validationFailure || status == .success && arguments.dropFirst().first == "help"
      let text = status == .success ? Thumbs.fullMessage(for: error) : Thumbs.message(for: error)
      if mayBeMisspelt, !text.isEmpty, let problem = UsageMessage.misspelling(in: arguments) {
        self.init(.validationFailure, problem)
      } else {
        let message = status == .success ? text : UsageMessage.line(text, arguments: arguments)
        self.init(status, text.isEmpty ? nil : message)
      }
    }
  }
}

extension ConversionError {
  /// The exit status of a conversion that ended with this error.
  var exitCode: ExitCode {
    switch self {
    case .invalidOption, .collisions: .validationFailure
    case .cannotWrite, .busy: .cannotWrite
    case .cancelled: .someFailed
    }
  }
}

extension ProviderError {
  /// The message in the command's terms, with short paths.
  var shownMessage: String {
    Advice.withOptions(PlainText.withShortPaths(" " + message).trimmingCharacters(in: .whitespaces))
  }

  /// The message; with `--offline`, what to do about a source that may not be contacted.
  fileprivate func shownMessage(offline: Bool) -> String {
    guard offline, case .unreachable(let name, _) = self else { return shownMessage }
    return
      "\(name) is not asked with --offline, and nothing is stored of it; give a folder (--provider folder:PATH) or "
      + "a list (--urls), or leave --offline out"
  }

  /// The exit status of a run that fetched nothing because of this error.
  fileprivate var exitCode: ExitCode {
    switch self {
    case .keyMissing, .keyUnusable, .unknownProvider, .invalidAddress, .addressRefused, .unsupported, .badRequest:
      .validationFailure
    default: .sourceUnavailable
    }
  }
}
