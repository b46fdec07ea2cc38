package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// The metadata of the response that an image came with, stored for conditional requests.
///
/// An image may have several: its server offers it in different sizes, each with its own URL, length and `ETag`.
package struct StoredResponse: Sendable, Equatable {
  /// A digest of the requested URL. Nil if an earlier version has stored it without.
  package var url: SourceKey?
  /// A digest of the final URL after redirects. Another URL's server could mistake the `ETag` for one of its own.
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

  /// Whether another response of the same URL had the same body, judging by its validators: there is at least one, and
  /// neither they nor the length differ.
  package func namesSameBody(as other: StoredResponse) -> Bool {
    (metadata.etag != nil || metadata.lastModified != nil)
      && metadata.etag == other.metadata.etag && metadata.lastModified == other.metadata.lastModified
      && length == other.length
  }
}

/// Why an image could not be fetched or decoded, remembered for a time to avoid repeating the request.
package struct RememberedFailure: Sendable, Equatable {
  /// The limits that an image exceeded: bytes, pixels, and bytes of memory. With higher ones it may pass.
  package struct Limits: Sendable, Equatable {
    var bytes: Int
    var pixels: Int
    var memory: Int

    package init(bytes: Int, pixels: Int, memory: Int) {
      self.bytes = bytes
      self.pixels = pixels
      self.memory = memory
    }

    /// Whether what these limits reject may pass under the others.
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

  /// Whether it is valid at a moment. Not if it lies in the future: then the clock was wrong.
  package func isValid(at now: Date) -> Bool { noted.hasPassed(by: now) && now < until }
}
