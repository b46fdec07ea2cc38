import Foundation
import Testing

@testable import HTTPTransport
@testable import TestSupport
@testable import TransportTestSupport

/// Pauses and `Retry-After`, without a clock.
@Suite
struct RetryPolicyTests {
  private let policy = RetryPolicy()
  private let busy = DownloadError.httpStatus(502, retryAfter: nil)

  @Test func eachBoundIsTwiceTheOneBeforeUpToTheLimit() throws {
    var policy = policy
    policy.maximumAttempts = 10
    for (attempt, bound) in [(1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8), (6, 10), (9, 10)] {
      var most = FixedRandom(word: .max)
      let longest = try #require(policy.pause(after: busy, attempt: attempt, using: &most))
      #expect(abs(longest / .seconds(1) - bound) < 0.001)
      var least = FixedRandom(word: 0)
      #expect(policy.pause(after: busy, attempt: attempt, using: &least) == .zero)
    }
  }

  @Test func pausesAreSpreadOverTheWholeRange() throws {
    var random = SystemRandomNumberGenerator()
    let pauses = try (0..<400).map { _ in
      try #require(policy.pause(after: busy, attempt: 3, using: &random)) / .seconds(1)
    }
    #expect(pauses.allSatisfy { (0...2).contains($0) })
    for quarter in 0..<4 {
      let share = pauses.count { Int($0 * 2) == quarter }
      #expect((40...160).contains(share))
    }
  }

  @Test func whatAHostWishesIsNoMatterOfOnePicture() {
    var most = FixedRandom(word: .max)
    for error: DownloadError in [
      .httpStatus(429, retryAfter: nil), .httpStatus(429, retryAfter: .seconds(7)),
      .httpStatus(503, retryAfter: .seconds(7)),
    ] {
      #expect(policy.pause(after: error, attempt: 1, using: &most) == .zero)
      #expect(policy.pause(after: error, attempt: 4, using: &most) == nil)
    }
    let unnamed = policy.pause(after: .httpStatus(503, retryAfter: nil), attempt: 1, using: &most)
    #expect(unnamed.map { $0 > .milliseconds(499) } == true)
  }

  @Test func endsAfterTheLastAttemptAndForLastingErrors() {
    var random = SystemRandomNumberGenerator()
    #expect(policy.pause(after: busy, attempt: 3, using: &random) != nil)
    #expect(policy.pause(after: busy, attempt: 4, using: &random) == nil)
    for error: DownloadError in [
      .cancelled, .httpStatus(404, retryAfter: .seconds(1)), .tooLarge(limit: 1, announced: 2), .refusedByObserver,
      .untrusted(reason: ""), .timedOut(.total), .tooManyRedirects(limit: 5), .fileNotFound,
    ] {
      #expect(policy.pause(after: error, attempt: 1, using: &random) == nil, "\(error)")
    }
  }

  @Test func anAPIIsRetriedAfterServerErrorsAlone() {
    var random = SystemRandomNumberGenerator()
    for (error, isRetried): (DownloadError, Bool) in [
      (busy, true), (.httpStatus(503, retryAfter: nil), true), (.unreachable(reason: ""), true),
      (.httpStatus(503, retryAfter: .seconds(1)), false), (.httpStatus(429, retryAfter: nil), false),
      (.httpStatus(408, retryAfter: nil), false), (.httpStatus(404, retryAfter: nil), false),
    ] {
      #expect((policy.pause(after: error, of: .api, attempt: 1, using: &random) != nil) == isRetried, "\(error)")
    }
  }

  @Test func attemptsThatMakeProgressDoNotCount() throws {
    var random = SystemRandomNumberGenerator()
    let request = DownloadRequest(url: try #require(URL(string: "http://a.example/")), byteLimit: 1 << 20, attempts: 2)
    var attempts = AttemptCounter(policy, for: request, partialBytes: 0)
    let broken = DownloadError.brokenOff(received: 1, expected: nil)
    for bytes in [256 << 10, 512 << 10, 768 << 10] {
      attempts.begin()
      #expect(attempts.pause(after: broken, partialBytes: bytes, using: &random) != nil)
    }
    // The last one that made progress stands for the first of two.
    attempts.begin()
    #expect(attempts.isLast && attempts.total == 4)
    #expect(attempts.pause(after: broken, partialBytes: 800 << 10, using: &random) == nil)
  }

  @Test func anAttemptThatIsMadeInAnotherWayDoesNotCount() throws {
    let request = DownloadRequest(url: try #require(URL(string: "http://a.example/")), byteLimit: 1 << 20, attempts: 2)
    var attempts = AttemptCounter(policy, for: request, partialBytes: 0)
    attempts.begin()
    attempts.repeatCurrent()
    attempts.begin()
    #expect(!attempts.isLast && attempts.total == 2)
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
  fileprivate mutating func take(line: String) -> Event {
    Array(line.utf8).withUnsafeBytes { take($0) }
  }
}

private struct FixedRandom: RandomNumberGenerator {
  let word: UInt64
  mutating func next() -> UInt64 { word }
}
