import Foundation
import ThumbnailCache
import ThumbnailCore

/// What a job knows at each moment: what is missing, what is stale, and what the server has said.
struct JobState: Sendable {
  /// What the server's response says about the stored thumbnails, with its body. Kept as one value, since a body that
  /// stays for later waiters implies the same for them.
  enum Verdict {
    /// No response yet: each thumbnail's own freshness decides.
    case none
    /// Not modified. `isKept`: whether the caches keep the thumbnails; the same response may forbid storing.
    case unchanged(isKept: Bool)
    /// A body. `replaces`: what happens to the stored thumbnails when the first ones made from this body are stored.
    case body(SourceBody, replaces: Replacement)
  }

  /// The variants to be made from a body.
  var missing: [Variant] = []
  /// Stale thumbnails that wait for the server's response.
  var stale: [FoundThumbnail] = []
  /// What was known of the source at the last look-up of the cache.
  var history = SourceHistory()
  /// What the server has said. Setting it ends the round of the last one.
  var verdict = Verdict.none { didSet { isVerdictNew = true } }
  /// Whether the verdict is from this round. It applies to variants requested before it.
  private var isVerdictNew = false
  /// Whether a request was sent. Before that a failure comes from the cache.
  var hasAsked = false
  /// When the last response stops being cacheable, if the server limits that.
  var statedEnd: Date?

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

  /// Records, within the same round, that the stored thumbnails are of an earlier version than the body.
  mutating func replaceStored() {
    guard case .body(let body, _) = verdict else { return }
    let wasNew = isVerdictNew
    verdict = .body(body, replaces: .all)
    isVerdictNew = wasNew
  }

  /// Whether there is a body to decode.
  var hasBody: Bool { if case .body = verdict { true } else { false } }
  /// Whether the stored thumbnails are known to be of an earlier version than the body.
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
