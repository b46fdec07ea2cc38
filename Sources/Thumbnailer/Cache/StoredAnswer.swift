import Foundation

/// What a server said with a picture's body, kept to ask it later whether the picture has changed.
///
/// A picture may have several: its server makes it in different sizes, each with its own URL, length and tag.
struct StoredAnswer: Sendable, Equatable {
  /// The URL that was asked, as a digest. Nil where it is not known, in what an earlier version has stored.
  var url: SourceKey?
  /// The URL that answered after all redirects, as a digest: whoever else is asked would take the tag for one of its own.
  var address: SourceKey
  /// The fields of the answer.
  var metadata: ResponseMetadata
  /// The length of the body as the server told it, in bytes.
  var length: Int?
  /// How long it holds.
  var freshness: Freshness

  /// Whether another answer of the same URL brought the same body, as far as its server names bodies: by a tag or a
  /// time, and none of what it says differs.
  func namesSameBody(as other: StoredAnswer) -> Bool {
    (metadata.etag != nil || metadata.lastModified != nil)
      && metadata.etag == other.metadata.etag && metadata.lastModified == other.metadata.lastModified
      && length == other.length
  }
}

/// Why a picture was not to be had, kept for a time so that it is not asked for again.
struct RememberedFailure: Sendable, Equatable {
  /// The limits that a picture was too large for, in bytes, pixels and bytes. Under higher ones it may pass.
  struct Limits: Sendable, Equatable {
    var bytes: Int
    var pixels: Int
    var memory: Int

    /// Whether what these limits refuse may pass under the others.
    func admitLess(than other: Limits) -> Bool {
      bytes < other.bytes || pixels < other.pixels || memory < other.memory
    }
  }

  /// The URL that was asked, as a digest.
  var url: SourceKey
  /// The short name of the error.
  var code: String
  /// What was wrong, in words.
  var reason: String
  /// The limits at that time.
  var limits: Limits
  /// When it happened.
  var noted: Date
  /// Until when it is believed.
  var until: Date

  /// Whether it is to be believed at a moment. Not before it happened: then the clock was ahead at that time.
  func isBelieved(at now: Date) -> Bool { noted.hasCome(by: now) && now < until }
}

/// What is known of a picture besides its thumbnails.
struct SourceNotes: Sendable, Equatable {
  /// The most URLs of one picture of which something is kept.
  static let longest = 4

  /// What its URLs answered, the last confirmed first.
  var answers: [StoredAnswer] = []
  /// What went wrong at its URLs.
  var failures: [RememberedFailure] = []

  /// How long its thumbnails hold: all URLs are of one picture, so the word of one is good for all, and one that may be
  /// used without asking counts before those that may not.
  func freshness(by rule: FreshnessRule) -> Freshness {
    let all = answers.map(\.freshness)
    return all.first(where: rule.admits) ?? all.max { $0.expires < $1.expires } ?? .unknown
  }

  /// What a URL answered.
  func answer(of url: SourceKey) -> StoredAnswer? { answers.first { $0.url == url } }

  /// What went wrong at a URL, if it is still to be believed.
  func failure(at url: SourceKey, now: Date) -> RememberedFailure? {
    failures.first { $0.url == url && $0.isBelieved(at: now) }
  }

  /// Puts an answer in the place of what its URL answered before. The one put longest ago leaves when there are too many.
  mutating func put(_ answer: StoredAnswer) {
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
enum NoteChange: Sendable {
  /// The server has confirmed what it said before; nothing happens where that has been replaced meanwhile.
  case confirmed(StoredAnswer, insteadOf: ResponseMetadata)
  case failed(RememberedFailure)
  /// A failure at that URL is forgotten.
  case forgiven(SourceKey)
}
