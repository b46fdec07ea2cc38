package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// A request for one body, with all its redirects and attempts.
package struct DownloadRequest: Sendable {
  /// The purpose of the body. It decides how it is requested and how failures are handled.
  package enum Purpose: Sendable {
    /// An image. An error status is a failure. Its body takes a share of the memory for bodies, may go to a spill file,
    /// and lends its slot while its server is silent.
    case image
    /// A response of an API, of any status, in memory. It may be compressed. Only its client knows what a status means,
    /// so it is retried after 5xx only, and does not wait while its host is held.
    case api
  }

  /// The URL: `http` or `https`.
  package var url: URL
  /// Header fields for the URL's own host; they are not sent after a redirect to another host.
  var headers: [HTTPHeader] = []
  /// The maximum length of the body, in bytes.
  var byteLimit: Int
  /// The purpose of the body.
  var purpose = Purpose.image
  /// Identifies the image, including credentials, so that a later run can resume the body. Nil keeps nothing after this
  /// download.
  var key: SourceKey?
  /// The maximum number of attempts, including the first, for an image with alternate URLs; nil for the configured one.
  package var attempts: Int?
  /// The maximum number of concurrent transfers that the server allows; nil for the configured one.
  package var downloadsPerHost: Int?
  /// Makes the request conditional. Nil requests the body in any case.
  package var condition: DownloadCondition?
  /// Requests a part of the body. Nil requests the whole.
  package var part: RequestedPart?
  /// Follows whether its server is silent.
  package var silence: ObservedValue<ServerSilence>?
  /// The admission ticket of an earlier part of the body.
  var ticket: DownloadTicket?
  /// Called after each attempt with its number, from 1, and the status of its response; nil if there was none.
  package var onAttempt: (@Sendable (_ number: Int, _ status: Int?) -> Void)?

  package init(
    url: URL, headers: [HTTPHeader] = [], byteLimit: Int, purpose: Purpose = .image, key: SourceKey? = nil
  ) {
    (self.url, self.headers, self.byteLimit, self.purpose, self.key) = (url, headers, byteLimit, purpose, key)
  }

  /// The same request for another part of the body, with the age of the earlier download in the queue. Such a part is
  /// not kept for a later run.
  package func part(_ range: Range<Int>, of version: BodyVersion, after download: Download) -> DownloadRequest {
    var request = self
    (request.part, request.key, request.condition) = (RequestedPart(range, of: version), nil, nil)
    request.ticket = download.ticket
    return request
  }

  /// Whether it waits while its host is held. False for an API, and if the image has alternate URLs or may be stale.
  var mayWait: Bool { attempts == nil && purpose == .image }
}

/// Validators for one URL, whose response is a 304 if the stored body is still valid.
package struct DownloadCondition: Sendable, Equatable {
  /// A digest of the URL that sent the validators. They are sent to no other URL.
  var address: SourceKey
  /// `If-None-Match`, `If-Modified-Since`.
  var headers: [HTTPHeader]

  package init(address: SourceKey, headers: [HTTPHeader]) {
    self.address = address
    self.headers = headers
  }
}

/// The response to a `DownloadRequest`: its head, its body, and how they were transferred.
package struct Download: Sendable {
  /// Status and header fields.
  let head: ResponseHead
  /// Whether the response was 304 (not modified) to a conditional request, so that there is no body.
  package let isUnchanged: Bool
  /// The bytes; the whole body when `isComplete`.
  package internal(set) var body: ByteSource
  /// The part of the body that the response delivers; nil for a whole body.
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
  package internal(set) var bodyShare: WeightedSemaphore.Reservation?

  /// The HTTP status.
  package var status: Int { head.status }
  /// The response's header fields in the order received.
  package var headers: [HTTPHeader] { head.headers }
  /// The host of the final URL after redirects.
  package var host: String? { HostName(parsing: url.host)?.host }
  /// A digest of the final URL after redirects, for a later condition. `digest`, the known digest of the requested URL,
  /// is reused if there was no redirect.
  package func finalDigest(requested: URL, digest: SourceKey) -> SourceKey {
    url.text == requested.absoluteString ? digest : url.digest
  }

  /// The version of the body, if other parts of it can be requested.
  package var version: BodyVersion? { BodyVersion(of: head, length: expectedBytes) }

  /// Drops the bytes, which are stored elsewhere, and returns their share of the memory for bodies.
  package mutating func releaseBody() {
    bodyShare?.release()
    (body, bodyShare) = (.memory([]), nil)
  }

  /// The error for the status of an image; nil for success.
  var failure: DownloadError? {
    isUnchanged || (200..<300).contains(status) ? nil : .httpStatus(status, retryAfter: head.retryAfter())
  }
}
