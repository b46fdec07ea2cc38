import Foundation
import ThumbnailCore
import Thumbnailer

/// Why a line has no thumbnails.
struct LineFailure: Error, Equatable, Sendable {
  /// The stage that failed.
  enum Stage: String, Sendable {
    /// Reading the line itself.
    case line
    /// Downloading the image.
    case download
    /// Reading it from a file or from the line.
    case read
    /// Reading its header: its format, and whether it is within the limits.
    case header
    case decode, encode
    /// Writing the thumbnails.
    case write
  }

  let stage: Stage
  /// A stable name for programs.
  let code: String
  /// One line for people: the problem and what to do about it.
  let message: String
  /// Whether the same line may succeed later without a change.
  var mayRetry = false
  /// How long until then, if that is known.
  var retryAfter: Duration?

  init(_ stage: Stage, _ code: String, _ message: String, mayRetry: Bool = false) {
    (self.stage, self.code, self.message, self.mayRetry) = (stage, code, message, mayRetry)
  }

  /// The failure for an error of the pipeline.
  init(_ error: ThumbnailError, isOnWeb: Bool) {
    stage =
      switch error {
      case .notAPicture, .unsupportedFormat, .tooLarge, .memoryUnavailable: .header
      case .damaged, .decoderFailed: .decode
      case .cannotEncode, .processingFailed: .encode
      case .invalidRequest: .line
      default: isOnWeb ? .download : .read
      }
    (code, message) = (error.code, error.message)
    (mayRetry, retryAfter) = (error.isTransient, error.retryAfter)
  }

  /// The failure for a file that cannot be written.
  init(writing path: String, _ failure: SystemFailure) {
    if failure.code == EEXIST {
      self.init(
        .write, "in-the-way", "\(path) is in the way: it has other bytes; move it, or choose another folder")
      return
    }
    let advice = SystemFailure.advice(failure.reason, choose: "another folder")
    self.init(
      .write, "cannot-write", "\(path) cannot be written: \(failure.reason); \(advice)", mayRetry: failure.endsRun)
  }

  static func invalidLine(_ reason: String) -> LineFailure {
    LineFailure(.line, "invalid-line", "the line cannot be read: \(reason); give a URL, or an object with url or path")
  }

  static func overlong(_ limit: Int) -> LineFailure {
    LineFailure(
      .line, "line-too-long",
      "the line is longer than \(ByteSize(bytes: limit)); name a file with path")
  }

  static func invalidRequest(_ reason: String) -> LineFailure { LineFailure(.line, "invalid-request", reason) }

  static let pathsRefused = LineFailure(
    .line, "paths-refused", "files are not read here; allow them if all lines are your own (allowsPaths)")
  static let blank = LineFailure(.line, "blank-line", "the line is blank or a comment")
  static let ending = LineFailure(
    .line, "ending", "the worker is ending and has not begun with it; give the line to another one", mayRetry: true)
}
