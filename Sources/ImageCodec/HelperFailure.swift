import ThumbnailCore

/// Why a helper process gave no answer about a picture.
package enum HelperFailure: Error, Sendable, Equatable, Codable {
  /// Nobody wants the answer any more.
  case cancelled
  /// It could not be started, or did not say who it is.
  case cannotStart(detail: String)
  /// It ended in the middle: "signal 6, Aborted".
  case crashed(how: String)
  /// It had not answered by its deadline.
  case tooSlow(milliseconds: Int)
  /// Its answer makes no sense.
  case nonsense(detail: String)
  /// The picture needs more memory than the helper may take.
  case outOfMemory(limit: Int)
  /// ImageMagick has not the memory that the picture takes; it has a limit of its own too.
  case imageMagickOutOfMemory
}

extension HelperFailure: CustomStringConvertible {
  /// One line without advice.
  package var description: String {
    switch self {
    case .cancelled: "cancelled"
    case .cannotStart(let detail): "the decode helper cannot be started: \(detail)"
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
