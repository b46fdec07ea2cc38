package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// A request for the bytes of one image.
package struct DownloadRequest: Sendable {
  /// The URL: `http` or `https`.
  var url: URL
  /// Header fields for the URL's own host; they are not sent after a redirect to another host.
  var headers: [HTTPHeader] = []
  /// The maximum length of the body, in bytes.
  var byteLimit: Int
  /// Identifies the image, credentials included, so that a later run can resume the body. With nil nothing is kept
  /// beyond this download.
  var key: SourceKey?
  /// The maximum number of attempts, including the first, for an image with alternate URLs; nil for the configured one.
  var attempts: Int?
  /// The maximum number of concurrent transfers that the server allows; nil for the configured one.
  var downloadsPerHost: Int?
  /// Makes the request conditional. Nil requests the body in any case.
  var condition: DownloadCondition?
  /// Follows whether its server is silent.
  var silence: ObservedValue<ServerSilence>?

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

/// The bytes of an image, and how they were transferred.
package struct Download: Sendable {
  /// The bytes; the whole body when `isComplete`.
  package let body: ByteSource
  /// False when the observer said *enough* before the end.
  package let isComplete: Bool
  /// Bytes of the body received in the last attempt.
  package let receivedBytes: Int
  /// The body's length as announced by the server.
  package let expectedBytes: Int?
  /// The HTTP status.
  package let status: Int
  /// The response's header fields in the order received.
  package let headers: [HTTPHeader]
  /// A digest of the final URL after redirects, for a later condition.
  package let address: SourceKey
  /// The final URL after redirects; nil when Foundation cannot represent it.
  let finalURL: URL?
  /// The number of attempts, from 1.
  package let attempts: Int
  /// The HTTP version: `1.1`, `2`.
  package let httpVersion: String
  /// From the start of the last request to the first byte of its response.
  let timeToFirstByte: Duration
  /// The duration of all attempts and the pauses between them, without waiting for a slot.
  package let duration: Duration
  /// Its share of the memory for bodies, released with the last copy of this value.
  let bodyShare: WeightedSemaphore.Reservation?

  /// Whether the response was 304 (not modified), so that there is no body.
  package var isUnchanged: Bool { status == 304 }
}
