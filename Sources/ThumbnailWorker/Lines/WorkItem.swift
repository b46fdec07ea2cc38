import Foundation
import HTTPSemantics
import ThumbnailCore

/// What a line asks for.
struct WorkItem: Sendable {
  /// Where the bytes of the image are.
  enum Origin: Sendable {
    case url(String, headers: [HTTPHeader])
    case path(String)
    /// Base64 text.
    case base64([UInt8])
  }

  let origin: Origin
  let variants: [Variant]
  /// The name of its files, without an end.
  let key: SampleKey
  var caption: String?
  /// The members of the line's `json`: their names, and their values as JSON text.
  var members: [(name: String, value: [UInt8])] = []
}

/// A line that was read, or why it could not be.
struct ParsedLine: Sendable {
  /// The number of the line, from 1.
  let number: Int
  /// The caller's id as the JSON text that it was.
  var id: [UInt8]?
  /// The name of its files, if the line could be read.
  var key: String?
  /// The source as the line has it, for the response.
  var address: LineResponse.Address?
  var content: Result<WorkItem, LineFailure>
}
