package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// Asks for the bytes of one picture.
package struct DownloadRequest: Sendable {
  /// Where they are: `http` or `https`.
  package var url: URL
  /// Header fields for the URL's own host; none of them goes along a redirect to another.
  package var headers: [HTTPHeader] = []
  /// The body may not be longer than this many bytes.
  package var byteLimit: Int
  /// What tells the picture from others, credentials included, so that a later run can go on with its body. Nil keeps
  /// nothing beyond this download.
  package var key: SourceKey?
  /// The most attempts, the first included, where the picture is to be had elsewhere, too; nil for as many as are
  /// configured.
  package var attempts: Int?
  /// The most transfers at once that the server wants to be asked for; nil for as many as are configured.
  package var downloadsPerHost: Int?
  /// Asks for the body only if it is another than the one that is known. Nil asks for it in any case.
  package var condition: DownloadCondition?
  /// Follows whether its server is silent.
  package var silence: ObservedValue<ServerSilence>?

  package init(
    url: URL, headers: [HTTPHeader] = [], byteLimit: Int, key: SourceKey? = nil, attempts: Int? = nil,
    downloadsPerHost: Int? = nil, condition: DownloadCondition? = nil, silence: ObservedValue<ServerSilence>? = nil
  ) {
    self.url = url
    self.headers = headers
    self.byteLimit = byteLimit
    self.key = key
    self.attempts = attempts
    self.downloadsPerHost = downloadsPerHost
    self.condition = condition
    self.silence = silence
  }
}

/// Has one URL answer without a body when that is still the one that is known.
package struct DownloadCondition: Sendable, Equatable {
  /// Which URL named the body so, as a digest. No other is told.
  package var address: SourceKey
  /// `If-None-Match`, `If-Modified-Since`.
  package var headers: [HTTPHeader]

  package init(address: SourceKey, headers: [HTTPHeader]) {
    self.address = address
    self.headers = headers
  }
}

/// A picture's bytes, and how they came.
package struct Download: Sendable {
  /// The bytes; the whole body when `isComplete`.
  package let body: ByteSource
  /// False when the observer said *enough* before the end.
  package let isComplete: Bool
  /// Bytes of the body that arrived in the last attempt.
  package let receivedBytes: Int
  /// The body's length as the server told it.
  package let expectedBytes: Int?
  /// The HTTP status.
  package let status: Int
  /// The answer's header fields in the order they came.
  package let headers: [HTTPHeader]
  /// The URL at the end of the redirects as a digest, to name it in a condition.
  package let address: SourceKey
  /// The URL at the end of the redirects; nil when Foundation cannot hold what the server named.
  let finalURL: URL?
  /// How many attempts it took, from 1.
  package let attempts: Int
  /// `1.1`, `2`.
  package let httpVersion: String
  /// From the start of the last request to the first byte of its answer.
  let timeToFirstByte: Duration
  /// All attempts and the pauses between them, waiting for a slot not counted.
  package let duration: Duration
  /// Its share of the memory for bodies, which goes back when the last copy of this value goes.
  let bodyShare: ByteSemaphore.Reservation?

  /// Whether the server says that the body is still the one that is known; there is none in here then.
  package var isUnchanged: Bool { status == 304 }

  /// The value of the first header field of that name, whatever its case.
  func value(of name: String) -> String? { headers.firstValue(of: name) }
}
