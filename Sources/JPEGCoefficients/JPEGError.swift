/// Why the coefficients of a JPEG were not read.
package enum JPEGError: Error, Sendable, Equatable {
  /// The decode was cancelled.
  case cancelled
  /// Another decoder may be able to read the file: "arithmetic coding".
  case handedOver(reason: String)
  /// The file ends before the image does.
  case truncated(detail: String)
  /// The bytes contradict the standard.
  case damaged(Part, detail: String)
  /// More scans than `JPEGStructure.mostScans`; the number counted so far.
  case tooManyScans(Int)
  /// The source failed.
  case unreadable(detail: String)

  /// A part of a file.
  package enum Part: Sendable, Equatable {
    /// The segments before the coded data.
    case header
    /// The coded data, or decoding it.
    case decode
  }
}
