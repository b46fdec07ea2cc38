import HTTPSemantics

/// A part of a body that is requested instead of the whole.
package struct RequestedPart: Sendable, Equatable {
  /// The bytes of the body.
  package var range: Range<Int>
  /// The version of the body that the part must belong to. Nil for the first part, for which a server may send the
  /// whole body.
  package var version: BodyVersion?

  package init(_ range: Range<Int>, of version: BodyVersion? = nil) { (self.range, self.version) = (range, version) }

  /// The error for a response other than this part; nil for a correct one, and for a status that does not
  /// depend on the range.
  func refusal(_ head: ResponseHead) -> DownloadError? {
    switch head.status {
    case 200..<300 where version == nil && head.status != 206: return nil
    // Its ranges are wrong, unless the image has changed.
    case 206: return .partUnavailable(isFault: true)
    case 200..<300: return .partUnavailable(isFault: false)
    case 300..<400, 401, 407, 429: return nil
    case 503 where head.retryAfter() != nil: return nil
    case 404 where version == nil, 410 where version == nil: return nil
    // A server may respond to a request for a range with another status than to a request for the whole file.
    default: return .partUnavailable(isFault: head.status != 416)
    }
  }

  /// The header fields of the request.
  var requestHeaders: [HTTPHeader] {
    let range = HTTPHeader("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")
    return version.map { [range, HTTPHeader("If-Range", $0.etag)] } ?? [range]
  }
}

/// A version of a body whose parts can be requested.
package struct BodyVersion: Sendable, Equatable {
  /// A strong `ETag`.
  let etag: String
  /// The length of the whole body in bytes.
  package let length: Int

  init(etag: String, length: Int) { (self.etag, self.length) = (etag, length) }

  /// The version of a response's body. Nil unless other parts of it can be requested: the response needs a strong
  /// `ETag`, a known length, and a server that announces support for ranges.
  package init?(of head: ResponseHead, length: Int?) {
    let isWhole = head.status == 200 && head.contentLength != nil
    let isOffered = isWhole && head.headers.firstValue(of: "Accept-Ranges")?.lowercased() == "bytes"
    guard let length, !head.isEncoded, isOffered || head.status == 206, let etag = head.headers.firstValue(of: "ETag"),
      etag.hasPrefix("\""), etag.hasSuffix("\""), etag.count >= 2, etag.utf8.count <= Self.longestTag
    else { return nil }
    self.init(etag: etag, length: length)
  }

  private static let longestTag = 1024
}

/// The part of a body that a response delivers.
struct DeliveredPart: Sendable, Equatable {
  let range: Range<Int>
  /// The length of the whole body in bytes.
  let total: Int

  var isWhole: Bool { range == 0..<total }

  /// Nil unless the response is exactly the requested part, except that the body may end before.
  init?(_ head: ResponseHead, of part: RequestedPart) {
    guard head.status == 206, !head.isEncoded, let text = head.headers.firstValue(of: "Content-Range"),
      text.lowercased().hasPrefix("bytes "), let slash = text.lastIndex(of: "/"),
      let total = Int(text[text.index(after: slash)...]), total > part.range.lowerBound
    else { return nil }
    let range = part.range.lowerBound..<min(part.range.upperBound, total)
    guard text.dropFirst("bytes ".count) == "\(range.lowerBound)-\(range.upperBound - 1)/\(total)",
      head.contentLength ?? range.count == range.count
    else { return nil }
    // A 206 must repeat the `ETag` (RFC 9110, 15.3.7). Without it the part may belong to a changed body.
    if let version = part.version {
      guard head.headers.firstValue(of: "ETag") == version.etag, total == version.length else { return nil }
    }
    (self.range, self.total) = (range, total)
  }
}
