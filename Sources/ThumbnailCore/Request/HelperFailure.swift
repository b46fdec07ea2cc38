/// Why a helper process returned no response for an image.
package enum HelperFailure: Error, Sendable, Equatable, Codable, CustomStringConvertible {
  /// The request was cancelled.
  case cancelled
  /// It could not be started, or sent no valid greeting.
  case cannotStart(detail: String)
  /// The machine cannot confine it as required.
  case notConfined(how: String)
  /// It exited during the request: "signal 6, Aborted".
  case crashed(how: String)
  /// It did not respond before its deadline.
  case tooSlow(milliseconds: Int)
  /// Its response is invalid.
  case nonsense(detail: String)
  /// The image needs more memory than the helper's limit, in bytes.
  case outOfMemory(limit: Int)
  /// ImageMagick lacks the memory for the image; it also has a limit of its own.
  case imageMagickOutOfMemory

  /// One line, without advice.
  package var description: String {
    switch self {
    case .cancelled: "cancelled"
    case .cannotStart(let detail): "the decode helper cannot be started: \(detail)"
    case .notConfined(let how): "the decode helper is not confined: \(how)"
    case .crashed(let how): "the decode helper crashed on the picture (\(how))"
    case .tooSlow(let milliseconds):
      "the decode helper was ended after \(Double(milliseconds / 100) / 10) s without an answer (decode)"
    case .nonsense(let detail): "the decode helper's answer makes no sense (\(detail))"
    case .outOfMemory(let limit):
      "decoding takes more memory than the decode helper's limit of \(ByteSize(bytes: limit))"
    case .imageMagickOutOfMemory: "decoding takes more memory than ImageMagick has in the decode helper"
    }
  }
}
