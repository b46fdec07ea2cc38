package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// What a server said with a picture's body, kept to ask it later whether the picture has changed.
///
/// A picture may have several: its server makes it in different sizes, each with its own URL, length and tag.
package struct StoredResponse: Sendable, Equatable {
  /// The URL that was asked, as a digest. Nil where it is not known, in what an earlier version has stored.
  package var url: SourceKey?
  /// The URL that answered after all redirects, as a digest: whoever else is asked would take the tag for one of its own.
  package var address: SourceKey
  /// The fields of the answer.
  package var metadata: ResponseMetadata
  /// The length of the body as the server told it, in bytes.
  package var length: Int?
  /// How long it holds.
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

  /// Whether another answer of the same URL brought the same body, as far as its server names bodies: by a tag or a
  /// time, and none of what it says differs.
  package func namesSameBody(as other: StoredResponse) -> Bool {
    (metadata.etag != nil || metadata.lastModified != nil)
      && metadata.etag == other.metadata.etag && metadata.lastModified == other.metadata.lastModified
      && length == other.length
  }
}

/// Why a picture was not to be had, kept for a time so that it is not asked for again.
package struct RememberedFailure: Sendable, Equatable {
  /// The limits that a picture was too large for, in bytes, pixels and bytes. Under higher ones it may pass.
  package struct Limits: Sendable, Equatable {
    package var bytes: Int
    package var pixels: Int
    package var memory: Int

    package init(bytes: Int, pixels: Int, memory: Int) {
      self.bytes = bytes
      self.pixels = pixels
      self.memory = memory
    }

    /// Whether what these limits refuse may pass under the others.
    package func admitLess(than other: Limits) -> Bool {
      bytes < other.bytes || pixels < other.pixels || memory < other.memory
    }
  }

  /// The URL that was asked, as a digest.
  package var url: SourceKey
  /// The short name of the error.
  package var code: String
  /// What was wrong, in words.
  package var reason: String
  /// The limits at that time.
  package var limits: Limits
  /// When it happened.
  package var noted: Date
  /// Until when it is believed.
  package var until: Date

  package init(url: SourceKey, code: String, reason: String, limits: Limits, noted: Date, until: Date) {
    self.url = url
    self.code = code
    self.reason = reason
    self.limits = limits
    self.noted = noted
    self.until = until
  }

  /// Whether it is to be believed at a moment. Not before it happened: then the clock was ahead at that time.
  package func isBelieved(at now: Date) -> Bool { noted.hasCome(by: now) && now < until }
}

/// What is known of a picture besides its thumbnails.
package struct SourceHistory: Sendable, Equatable {
  /// The most URLs of one picture of which something is kept.
  static let longest = 4

  /// What its URLs answered, the last confirmed first.
  package var answers: [StoredResponse] = []
  /// What went wrong at its URLs.
  package var failures: [RememberedFailure] = []

  package init(answers: [StoredResponse] = [], failures: [RememberedFailure] = []) {
    self.answers = answers
    self.failures = failures
  }

  /// How long its thumbnails hold: all URLs are of one picture, so the word of one is good for all, and one that may be
  /// used without asking counts before those that may not.
  package func freshness(by rule: FreshnessRule) -> Freshness {
    let all = answers.map(\.freshness)
    return all.first(where: rule.admits) ?? all.max { $0.expires < $1.expires } ?? .unknown
  }

  /// What a URL answered.
  package func answer(of url: SourceKey) -> StoredResponse? { answers.first { $0.url == url } }

  /// What went wrong at a URL, if it is still to be believed.
  func failure(at url: SourceKey, now: Date) -> RememberedFailure? {
    failures.first { $0.url == url && $0.isBelieved(at: now) }
  }

  /// Puts an answer in the place of what its URL answered before. The one put longest ago leaves when there are too many.
  mutating func put(_ answer: StoredResponse) {
    answers.removeAll { $0.url == answer.url || $0.url == nil }
    answers.insert(answer, at: 0)
    if answers.count > Self.longest { answers.removeLast() }
  }

  /// Puts a failure in the place of an earlier one at its URL. The oldest leaves when there are too many.
  mutating func put(_ failure: RememberedFailure) {
    failures.removeAll { $0.url == failure.url }
    failures.append(failure)
    if failures.count > Self.longest { failures.removeFirst() }
  }
}

/// A change to what is known of a picture besides its thumbnails.
enum HistoryChange: Sendable {
  /// The server has confirmed what it said before; nothing happens where that has been replaced meanwhile.
  case confirmed(StoredResponse, insteadOf: ResponseMetadata)
  case failed(RememberedFailure)
  /// A failure at that URL is forgotten.
  case forgiven(SourceKey)
}
