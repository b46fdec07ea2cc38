import Testing

@testable import HTTPTransport
@testable import ThumbnailCore
@testable import TestSupport
@testable import TransportTestSupport

/// Who starts and who waits at hosts that are left alone, without a clock.
@Suite
struct DownloadSlotsTests {
  private let start = ContinuousClock.now

  private func slots(maximumWait: Duration = .seconds(60)) -> DownloadSlots {
    DownloadSlots(.init(maximum: 4, maximumPerSite: 2), policy: .init(), maximumWait: maximumWait)
  }

  @discardableResult
  private func enqueue(
    _ slots: inout DownloadSlots, _ effects: inout DownloadSlots.Effects, mayWait: Bool = true, after seconds: Int = 0
  ) throws -> DownloadSlots.Admission.Ticket {
    try slots.enqueue(
      TransferSlot(
        nil, at: #require(CurlURL("http://a.example/")), mayWait: mayWait, silence: nil, shortestTimeout: .seconds(1)),
      at: .visible, limit: nil, returning: nil,
      now: start + .seconds(seconds), &effects)
  }

  /// Starts the next; its pass.
  private func admit(_ slots: inout DownloadSlots) throws -> CircuitBreaker.Permit {
    try #require(next(&slots))
  }

  private func next(_ slots: inout DownloadSlots) -> CircuitBreaker.Permit? {
    guard case .start(_, let pass)? = slots.nextStep(at: start) else { return nil }
    return pass
  }

  @Test func oneStartsWhenAPauseIsOverAndTheOthersWhenItHasAnAnswer() throws {
    var (slots, effects) = (slots(), DownloadSlots.Effects())
    var tickets = try (0..<4).map { _ in try enqueue(&slots, &effects) }
    let pass = try admit(&slots)
    slots.ended(pass, .pause(.seconds(2)), now: start, &effects)
    slots.admission.release(tickets.removeFirst())
    #expect(next(&slots) == nil && slots.nextTrial == start + .seconds(2))
    #expect(effects.pauses.map(\.isWaitedFor) == [true] && effects.failed.isEmpty)
    slots.wake(now: start + .seconds(2))
    let trial = try admit(&slots)
    #expect(next(&slots) == nil && slots.nextTrial == nil)
    slots.ended(trial, .responded, now: start + .seconds(3), &effects)
    slots.admission.release(tickets.removeFirst())
    #expect(next(&slots) != nil && next(&slots) != nil && next(&slots) == nil)
  }

  @Test func whoMayNotWaitOrWouldWaitTooLongFails() throws {
    var (slots, effects) = (slots(maximumWait: .seconds(3)), DownloadSlots.Effects())
    try enqueue(&slots, &effects)
    let pass = try admit(&slots)
    try enqueue(&slots, &effects, mayWait: false)
    try enqueue(&slots, &effects)
    slots.ended(pass, .pause(.seconds(2)), now: start, &effects)
    #expect(effects.failed.map(\.1) == [.hostPaused(host: "a.example", retryAfter: .seconds(2))])
    #expect(throws: DownloadError.hostPaused(host: "a.example", retryAfter: .seconds(1))) {
      try enqueue(&slots, &effects, mayWait: false, after: 1)
    }
    try enqueue(&slots, &effects, after: 1)
    #expect(slots.admission.waiting == 2)
    slots.wake(now: start + .seconds(2))
    let trial = try admit(&slots)
    // Two of three seconds are spent.
    slots.ended(trial, .pause(.seconds(2)), now: start + .seconds(2), &effects)
    #expect(effects.failed.count == 2 && slots.admission.waiting == 0)
    #expect(effects.pauses.map(\.isWaitedFor) == [true, false])
  }

  @Test func aPauseThatHasBecomeLongerAndThatNobodyWaitsForWakesNobody() throws {
    var (slots, effects) = (slots(), DownloadSlots.Effects())
    for _ in 0..<2 { try enqueue(&slots, &effects) }
    let passes = [try admit(&slots), try admit(&slots)]
    slots.ended(passes[0], .pause(.seconds(2)), now: start, &effects)
    let ticket = try enqueue(&slots, &effects)
    #expect(slots.nextTrial == start + .seconds(2))
    _ = slots.admission.remove(ticket)
    slots.ended(passes[1], .pause(.seconds(9)), now: start + .seconds(1), &effects)
    slots.wake(now: start + .seconds(2))
    #expect(slots.nextTrial == nil)
  }
}
