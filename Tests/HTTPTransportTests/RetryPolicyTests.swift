@testable import HTTPTransport

/// Pauses and `Retry-After`, without a clock.
@Suite struct RetryPolicyTests {
  private let policy = RetryPolicy()
  private let busy = DownloadError.httpStatus(502, retryAfter: nil)

  @Test func eachBoundIsTwiceTheOneBeforeUpToTheLimit() throws {
    for (failures, bound) in [(1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8), (6, 10), (9, 10)] {
      var most = FixedRandom(word: .max)
      let longest = try #require(policy.pause(after: busy, failures: failures, most: 10, using: &most))
      #expect(abs(longest / .seconds(1) - bound) < 0.001)
      var least = FixedRandom(word: 0)
      #expect(policy.pause(after: busy, failures: failures, most: 10, using: &least) == .zero)
    }
  }

  @Test func pausesAreSpreadOverTheWholeRange() throws {
    var random = SystemRandomNumberGenerator()
    let pauses = try (0..<400).map { _ in
      try #require(policy.pause(after: busy, failures: 3, most: 4, using: &random)) / .seconds(1)
    }
    #expect(pauses.allSatisfy { (0...2).contains($0) })
    for quarter in 0..<4 {
      let share = pauses.count { Int($0 * 2) == quarter }
      #expect((40...160).contains(share))
    }
  }

  @Test func theRandomPauseBeginsAfterTheRequestedOne() throws {
    var most = FixedRandom(word: .max)
    var least = FixedRandom(word: 0)
    let busy = DownloadError.httpStatus(429, retryAfter: .seconds(7))
    #expect(policy.pause(after: busy, failures: 1, most: 4, using: &least) == .seconds(7))
    #expect(policy.pause(after: busy, failures: 0, most: 4, using: &most) == .seconds(7))
    #expect(policy.pause(after: busy, failures: 4, most: 4, using: &most) == nil)
    let longest = try #require(policy.pause(after: busy, failures: 1, most: 4, using: &most))
    #expect(abs(longest / .seconds(1) - 7.5) < 0.001)
  }

  @Test func anAttemptThatDoesNotCountLeadsToTheNextAtOnce() {
    var most = FixedRandom(word: .max)
    #expect(policy.pause(after: busy, failures: 0, most: 4, using: &most) == .zero)
    #expect(policy.pause(after: busy, failures: 2, most: 2, using: &most) == nil)
  }

  @Test func endsAfterTheLastAttemptAndForLastingErrors() {
    var random = SystemRandomNumberGenerator()
    #expect(policy.pause(after: busy, failures: 3, most: 4, using: &random) != nil)
    #expect(policy.pause(after: busy, failures: 4, most: 4, using: &random) == nil)
    for error: DownloadError in [
      .cancelled, .httpStatus(404, retryAfter: .seconds(1)), .tooLarge(limit: 1, announced: 2), .refusedByObserver,
      .untrusted(reason: ""), .timedOut(.total), .tooManyRedirects(limit: 5), .fileNotFound,
    ] {
      #expect(policy.pause(after: error, failures: 1, most: 4, using: &random) == nil, "\(error)")
    }
  }

  @Test func anAPIIsRetriedAfterServerErrorsAlone() {
    var random = SystemRandomNumberGenerator()
    for (error, isRetried): (DownloadError, Bool) in [
      (busy, true), (.httpStatus(503, retryAfter: nil), true), (.unreachable(reason: ""), true),
      (.httpStatus(503, retryAfter: .seconds(1)), false), (.httpStatus(429, retryAfter: nil), false),
      (.httpStatus(408, retryAfter: nil), false), (.httpStatus(404, retryAfter: nil), false),
    ] {
      #expect(
        (policy.pause(after: error, of: .api, failures: 1, most: 4, using: &random) != nil) == isRetried, "\(error)")
    }
  }

  @Test func readsRetryAfterAsSecondsAndAsDates() {
    let now = Date(timeIntervalSince1970: 784_111_747)  // Sun, 06 Nov 1994 08:49:07 GMT
    for (text, seconds) in [
      ("120", 120), ("0", 0), ("-5", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 30),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 30), ("Sun Nov  6 08:49:37 1994", 30), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
    ] {
      #expect(head("Retry-After: \(text)").retryAfter(now: now) == .seconds(seconds), "\(text)")
    }
    #expect(head("Retry-After: soon").retryAfter(now: now) == nil)
    #expect(head("X: y").retryAfter(now: now) == nil)
  }
}

/// A head of status 200 with these fields.
private func head(_ lines: String...) -> ResponseHead {
  var head = ResponseHead()
  for line in ["HTTP/1.1 200 OK"] + lines + [""] { _ = head.take(line: line) }
  return head
}

extension ResponseHead {
  fileprivate mutating func take(line: String) -> Bool {
    Array(line.utf8).withUnsafeBytes { take($0) }
  }
}

private struct FixedRandom: RandomNumberGenerator {
  let word: UInt64
  mutating func next() -> UInt64 { word }
}
