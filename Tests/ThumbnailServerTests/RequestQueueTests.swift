@testable import ThumbnailServer

/// Whose requests wait, and whose are worked on.
@Suite struct RequestQueueTests {
  private typealias Party = RequestQueue.Party

  private static func enter(
    _ queue: inout RequestQueue, _ count: Int, _ client: String, _ origin: String? = nil
  ) -> [RequestQueue.Ticket] {
    (0..<count).compactMap { _ in try? queue.enter(Party(client: client, origin: origin)) }
  }

  private static func refusal(
    _ queue: RequestQueue, _ client: String, _ origin: String? = nil
  ) -> RequestQueue.Refusal? {
    var queue = queue
    do throws(RequestQueue.Refusal) {
      _ = try queue.enter(Party(client: client, origin: origin))
      return nil
    } catch {
      return error
    }
  }

  @Test func aClientHasAQuarterOfTheQueueAndAnOriginHalf() {
    var queue = RequestQueue(limit: 16, making: 16)
    #expect(Self.enter(&queue, 9, "a", "silent").count == 4)
    #expect(Self.refusal(queue, "a", "other") == .client)
    #expect(Self.enter(&queue, 9, "b", "silent").count == 4)
    #expect(Self.refusal(queue, "c", "silent") == .origin)
    #expect(Self.enter(&queue, 9, "c", "other").count == 4)
    #expect(Self.enter(&queue, 9, "d").count == 4)
    #expect(Self.refusal(queue, "e") == .all && Self.refusal(queue, "a") == .client)
    #expect(queue.count == 16)
  }

  @Test func whoHasUsedUpItsPartHoldsUpNobody() {
    var queue = RequestQueue(limit: 1024, making: 64)
    let abuser = Self.enter(&queue, 1000, "a", "silent")
    // Half of what one client may have, for one origin.
    #expect(abuser.count == 256 && queue.begin() == Array(abuser.prefix(8)))
    let more = Self.enter(&queue, 8, "b", "silent") + Self.enter(&queue, 8, "b", "good")
    #expect(queue.begin() == more)
    #expect(Self.enter(&queue, 1, "b", "third").count == 1 && queue.begin().isEmpty)
    queue.leave(abuser[3], Party(client: "a", origin: "silent"))
    // Those that have waited for longest are next.
    #expect(queue.begin() == [abuser[8]])
    queue.leave(more[15], Party(client: "b", origin: "good"))
    #expect(queue.begin().count == 1)
  }

  @Test func anOriginHasHalfOfTheWorkHoweverManyAskForIt() {
    var queue = RequestQueue(limit: 1024, making: 64)
    for client in 0..<20 { _ = Self.enter(&queue, 8, "\(client)", "silent") }
    #expect(queue.begin().count == 32)
    let other = Self.enter(&queue, 8, "late", "good")
    #expect(queue.begin() == other)
  }

  /// However requests come and go, nobody has more than its part, and nothing is left behind.
  @Test(arguments: 0..<20) func anyOrderOfRequestsKeepsTheAccounts(seed: UInt64) {
    var random = SplitMix(state: seed)
    var queue = RequestQueue(limit: 64, making: 16)
    var held: [RequestQueue.Ticket: Party] = [:]
    var working: Set<RequestQueue.Ticket> = []
    for _ in 0..<2000 {
      if random.next() % 3 > 0 {
        let party = Party(client: "\(random.next() % 7)", origin: random.next() % 4 == 0 ? nil : "\(random.next() % 3)")
        if let ticket = try? queue.enter(party) { held[ticket] = party }
      } else if let (ticket, party) = held.randomElement(using: &random) {
        queue.leave(ticket, party)
        held[ticket] = nil
        working.remove(ticket)
      }
      working.formUnion(queue.begin())
      let parties = held.values
      let busy = working.compactMap { held[$0] }
      for name in 0..<7 {
        #expect(parties.count { $0.client == "\(name)" } <= 16 && busy.count { $0.client == "\(name)" } <= 4)
        #expect(parties.count { $0.origin == "\(name)" } <= 32 && busy.count { $0.origin == "\(name)" } <= 8)
      }
      #expect(queue.count == held.count && held.count <= 64 && working.count <= 16)
    }
    for (ticket, party) in held { queue.leave(ticket, party) }
    #expect(queue.count == 0)
  }
}
