import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// The history of a source image: its responses and failures.
package struct SourceHistory: Sendable, Equatable {
  /// The most URLs kept per image.
  static let longest = 4

  /// The responses of its URLs, last confirmed first.
  package var responses: [StoredResponse] = []
  /// The failures of its URLs.
  package var failures: [RememberedFailure] = []

  package init(responses: [StoredResponse] = [], failures: [RememberedFailure] = []) {
    self.responses = responses
    self.failures = failures
  }

  /// The freshness of its thumbnails. All URLs show the same image, so a fresh response of one URL is valid for all. A
  /// response that `rule` admits is preferred.
  package func freshness(by rule: ReuseRule) -> Freshness {
    let all = responses.map(\.freshness)
    return all.first(where: rule.admits) ?? all.max { $0.expires < $1.expires } ?? .unknown
  }

  /// The response of a URL.
  package func response(of url: SourceKey) -> StoredResponse? { responses.first { $0.url == url } }

  /// Replaces the response of a URL. Beyond the limit, the one stored longest ago is dropped.
  mutating func put(_ response: StoredResponse) {
    responses.removeAll { $0.url == response.url || $0.url == nil }
    responses.insert(response, at: 0)
    if responses.count > Self.longest { responses.removeLast() }
  }

  /// Replaces the failure of a URL. Beyond the limit, the oldest is dropped.
  mutating func put(_ failure: RememberedFailure) {
    failures.removeAll { $0.url == failure.url }
    failures.append(failure)
    if failures.count > Self.longest { failures.removeFirst() }
  }
}

extension SourceHistory {
  /// Whether the stored thumbnails were made from an earlier version than the body of an unconditional response: its
  /// validator differs, or it has none and the thumbnails are stale. Thumbnails that were made from the response's own
  /// body are never outdated.
  package func isOutdated(by response: StoredResponse?, rule: ReuseRule) -> Bool {
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
  /// Whether both are the same response, before and after it was stored. The database stores dates as seconds since
  /// 1970, which rounds them.
  fileprivate func isSameMessage(as other: StoredResponse) -> Bool {
    func stored(_ freshness: Freshness) -> [Double] {
      [freshness.confirmed.timeIntervalSince1970, freshness.expires.timeIntervalSince1970]
    }
    return url == other.url && metadata == other.metadata && length == other.length
      && stored(freshness) == stored(other.freshness)
  }
}
