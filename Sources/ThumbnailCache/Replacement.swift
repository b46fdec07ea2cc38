import Foundation
import HTTPSemantics

/// What happens to the other stored thumbnails of an image when some are stored.
package enum Replacement: Sendable {
  /// They stay, being of the same version.
  case none
  /// They are removed, being of an earlier version.
  case all
  /// They are removed if their responses show that they are of an earlier version. This is decided in the transaction
  /// that stores the new ones, since another process may have stored some after the look-up. `report` is called once
  /// they are gone, on any thread.
  case ifOutdated(by: FreshnessRule, report: @Sendable () -> Void)

  /// Whether they are known to be of an earlier version.
  package var isAll: Bool { if case .all = self { true } else { false } }
}

extension SourceHistory {
  /// Whether the stored thumbnails were made from an earlier version than the body of an unconditional response: its
  /// validator differs, or it has none and the thumbnails are stale. A response never outdates what was made from its
  /// own body.
  package func isOutdated(by response: StoredResponse?, rule: FreshnessRule) -> Bool {
    guard let response, !responses.isEmpty else { return false }
    let isStale = !rule.admits(freshness(by: rule))
    guard let known = response.url.flatMap({ self.response(of: $0) }) else { return isStale }
    if known.namesSameBody(as: response) || known.isSameMessage(as: response) { return false }
    // Without a validator a change cannot be detected.
    let isNamed = [known, response].contains { $0.metadata.etag != nil || $0.metadata.lastModified != nil }
    return isNamed || isStale
  }
}

extension StoredResponse {
  /// Whether both are the same response, before and after it was stored: that keeps dates in seconds since 1970, which
  /// rounds them.
  fileprivate func isSameMessage(as other: StoredResponse) -> Bool {
    func stored(_ freshness: Freshness) -> [Double] {
      [freshness.confirmed.timeIntervalSince1970, freshness.expires.timeIntervalSince1970]
    }
    return url == other.url && metadata == other.metadata && length == other.length
      && stored(freshness) == stored(other.freshness)
  }
}
