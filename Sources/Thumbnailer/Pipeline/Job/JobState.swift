import Foundation
import ThumbnailCache
import ThumbnailCore

/// The state of a job: the missing variants, the stale thumbnails, and the server's response.
struct JobState: Sendable {
  /// What the server's response means for the stored thumbnails, with its body. One value, because a body that is kept
  /// for later waiters means the same for them.
  enum Verdict {
    /// No response yet: each thumbnail's own freshness decides.
    case none
    /// Not modified. `isKept` says whether the caches keep the thumbnails, because the same response may forbid
    /// storing.
    case unchanged(isKept: Bool)
    /// A body. `replaces` says what happens to the stored thumbnails when the first thumbnails of this body are stored.
    case body(SourceBody, replaces: Replacement)
  }

  /// The variants to make from a body.
  var missing: [Variant] = []
  /// Stale thumbnails that wait for the server's response.
  var stale: [FoundThumbnail] = []
  /// The history of the source at the last look-up of the cache.
  var history = SourceHistory()
  /// The verdict of the server's response. Setting it begins the round of the new verdict.
  var verdict = Verdict.none { didSet { isVerdictNew = true } }
  /// Whether the verdict is from this round. It applies to variants requested before it.
  private var isVerdictNew = false
  /// Whether a request was sent. Without one, a failure comes from the cache.
  var hasAsked = false
  /// Until when the last response is cacheable, if the server limits this.
  @Boxed var statedEnd: Date? = nil

  /// Drops a verdict that applied to earlier waiters, but not a body.
  mutating func beginRound() {
    if case .unchanged = verdict { verdict = .none }
    isVerdictNew = false
  }

  /// Moves the body out, so that the caller has the only copy.
  mutating func takeBody() -> (body: SourceBody, replaces: Replacement)? {
    guard case .body(let body, let replaces) = verdict else { return nil }
    verdict = .none
    return (body, replaces)
  }

  /// Records that the stored thumbnails belong to an earlier version than the body, without ending the round.
  mutating func replaceStored() {
    guard case .body(let body, _) = verdict else { return }
    let wasNew = isVerdictNew
    verdict = .body(body, replaces: .all)
    isVerdictNew = wasNew
  }

  /// Whether there is a body to decode.
  var hasBody: Bool { if case .body = verdict { true } else { false } }
  /// Whether the stored thumbnails are known to belong to an earlier version than the body.
  var replacesStored: Bool { if case .body(_, let replaces) = verdict { replaces.isAll } else { false } }
  /// Whether the stored thumbnails are known to be current, even if they are stale by their dates.
  var confirmsStored: Bool {
    switch verdict {
    case .none: false
    case .unchanged: isVerdictNew
    case .body: isVerdictNew && !replacesStored
    }
  }
}
