import Foundation

/// Asks for the bytes of one picture.
struct DownloadRequest: Sendable {
  /// Where they are: `http` or `https`.
  var url: URL
  /// Header fields for the URL's own host; none of them goes along a redirect to another.
  var headers: [HTTPHeader] = []
  /// The body may not be longer than this many bytes.
  var byteLimit: Int
  /// What tells the picture from others, credentials included, so that a later run can go on with its body. Nil keeps
  /// nothing beyond this download.
  var key: SourceKey?
  /// The most attempts, the first included, where the picture is to be had elsewhere, too; nil for as many as are
  /// configured.
  var attempts: Int?
  /// The most transfers at once that the server wants to be asked for; nil for as many as are configured.
  var downloadsPerHost: Int?
  /// Asks for the body only if it is another than the one that is known. Nil asks for it in any case.
  var condition: DownloadCondition?
  /// Follows whether its server is silent.
  var silence: ObservedValue<ServerSilence>?
}

/// Has one URL answer without a body when that is still the one that is known.
struct DownloadCondition: Sendable, Equatable {
  /// Which URL named the body so, as a digest. No other is told.
  var address: SourceKey
  /// `If-None-Match`, `If-Modified-Since`.
  var headers: [HTTPHeader]
}

/// A picture's bytes, and how they came.
struct Download: Sendable {
  /// The bytes; the whole body when `isComplete`.
  let body: ByteSource
  /// False when the observer said *enough* before the end.
  let isComplete: Bool
  /// Bytes of the body that arrived in the last attempt.
  let receivedBytes: Int
  /// The body's length as the server told it.
  let expectedBytes: Int?
  /// The HTTP status.
  let status: Int
  /// The answer's header fields in the order they came.
  let headers: [HTTPHeader]
  /// The URL at the end of the redirects as a digest, to name it in a condition.
  let address: SourceKey
  /// The URL at the end of the redirects; nil when Foundation cannot hold what the server named.
  let finalURL: URL?
  /// How many attempts it took, from 1.
  let attempts: Int
  /// `1.1`, `2`.
  let httpVersion: String
  /// From the start of the last request to the first byte of its answer.
  let timeToFirstByte: Duration
  /// All attempts and the pauses between them, waiting for a slot not counted.
  let duration: Duration
  /// Its share of the memory for bodies, which goes back when the last copy of this value goes.
  let bodyShare: ByteLimiter.Reservation?

  /// Whether the server says that the body is still the one that is known; there is none in here then.
  var isUnchanged: Bool { status == 304 }

  /// The value of the first header field of that name, whatever its case.
  func value(of name: String) -> String? { headers.firstValue(of: name) }
}
