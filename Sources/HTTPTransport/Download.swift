package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// The response to a `DownloadRequest`: its head, its body, and how they were transferred.
package struct Download: Sendable {
  /// Status and header fields.
  let head: ResponseHead
  /// Whether the response was 304 (not modified) to a conditional request, so that there is no body.
  package let isUnchanged: Bool
  /// The bytes; the whole body when `isComplete`.
  package private(set) var body: ByteSource
  /// The part of the body that the response is, if it is one.
  let part: DeliveredPart?
  /// False when the observer said *enough* before the end, and for a part of the body.
  package let isComplete: Bool
  /// Bytes of the body received in the last attempt.
  package let receivedBytes: Int
  /// The length of the whole body as announced by the server.
  package let expectedBytes: Int?
  /// The HTTP version: `1.1`, `2`.
  package let httpVersion: String
  /// The final URL after redirects.
  let url: CurlURL
  /// The number of attempts, from 1.
  package var attempts = 1
  /// The duration of all attempts and the pauses between them, without waiting for a slot.
  package var duration = Duration.zero
  /// Its admission ticket, with which a later part of the same body keeps its age.
  var ticket: DownloadTicket?
  /// Its share of the memory for bodies, released with the last copy of this value.
  var bodyShare: WeightedSemaphore.Reservation?

  /// The HTTP status.
  package var status: Int { head.status }
  /// The response's header fields in the order received.
  package var headers: [HTTPHeader] { head.headers }
  /// The host of the final URL after redirects.
  package var host: String? { HostName(parsing: url.host)?.host }
  /// A digest of the final URL after redirects, for a later condition. Mostly that of the requested one, which is known.
  package func finalDigest(requested: URL, digest: SourceKey) -> SourceKey {
    url.text == requested.absoluteString ? digest : url.digest
  }

  /// The version of the body, if other parts of it can be requested.
  package var version: BodyVersion? { BodyVersion(of: head, length: expectedBytes) }

  /// Drops the bytes, once they are elsewhere, and returns their share of the memory for bodies.
  package mutating func releaseBody() {
    bodyShare?.release()
    (body, bodyShare) = (.memory([]), nil)
  }

  /// Drops the bytes, once they are elsewhere, and keeps the share, as long as they are used.
  mutating func dropBytes() { body = .memory([]) }

  /// The error for the status of an image; nil for success.
  var failure: DownloadError? {
    isUnchanged || (200..<300).contains(status) ? nil : .httpStatus(status, retryAfter: head.retryAfter())
  }
}
