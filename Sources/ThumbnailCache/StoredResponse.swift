package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// The metadata of an image's response, stored for conditional requests.
///
/// An image has several responses if its server offers it in different sizes, each with its own URL, length and `ETag`.
package struct StoredResponse: Sendable, Equatable {
  /// A digest of the requested URL. Nil if an earlier version of the program has stored the response without it.
  package var url: SourceKey?
  /// A digest of the final URL after redirects. The validators are sent to this URL only, because another server could
  /// use the same `ETag` for another image.
  package var address: SourceKey
  /// The relevant header fields.
  package var metadata: ResponseMetadata
  /// The length of the body as announced by the server, in bytes.
  var length: Int?
  /// The freshness of the response.
  package var freshness: Freshness

  package init(
    url: SourceKey? = nil, address: SourceKey, metadata: ResponseMetadata, length: Int? = nil, freshness: Freshness
  ) {
    self.url = url
    self.address = address
    self.metadata = metadata
    self.length = length
    self.freshness = freshness
  }

  /// Whether another response of the same URL had the same body: both have a validator, and neither the validators nor
  /// the lengths differ.
  package func namesSameBody(as other: StoredResponse) -> Bool {
    (metadata.etag != nil || metadata.lastModified != nil)
      && metadata.etag == other.metadata.etag && metadata.lastModified == other.metadata.lastModified
      && length == other.length
  }
}

/// A cached failure: why an image could not be fetched or decoded.
package struct RememberedFailure: Sendable, Equatable {
  /// The limits at the time of the failure: bytes, pixels, and bytes of memory. With higher limits the image may be
  /// accepted.
  package struct Limits: Sendable, Equatable {
    var bytes: Int
    var pixels: Int
    var memory: Int

    package init(bytes: Int, pixels: Int, memory: Int) {
      self.bytes = bytes
      self.pixels = pixels
      self.memory = memory
    }

    /// Whether the other limits may accept an image that these limits reject.
    package func admitLess(than other: Limits) -> Bool {
      bytes < other.bytes || pixels < other.pixels || memory < other.memory
    }
  }

  /// A digest of the requested URL.
  package var url: SourceKey
  /// The error's code.
  package var code: String
  /// The error's message.
  package var reason: String
  /// The limits at that time.
  package var limits: Limits
  /// When it happened.
  var noted: Date
  /// Until when it is valid.
  package var until: Date

  package init(url: SourceKey, code: String, reason: String, limits: Limits, noted: Date, until: Date) {
    self.url = url
    self.code = code
    self.reason = reason
    self.limits = limits
    self.noted = noted
    self.until = until
  }

  /// Whether it is valid at this time. A failure from the future is invalid, because the clock was wrong.
  package func isValid(at now: Date) -> Bool { noted.hasPassed(by: now) && now < until }
}
