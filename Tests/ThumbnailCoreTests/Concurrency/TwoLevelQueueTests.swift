@testable import ThumbnailCore

@Suite struct TwoLevelQueueTests {
  @Test func workOfOneLevelIsTakenInTheOrderItCame() {
    var queue = TwoLevelQueue<Int>()
    for number in 1...5 { _ = queue.enqueue(number, at: .prefetch) }
    #expect((1...5).compactMap { _ in queue.dequeue() } == [1, 2, 3, 4, 5])
    #expect(queue.isEmpty)
  }

  @Test func visibleWorkOvertakesPrefetch() {
    var queue = TwoLevelQueue<String>()
    _ = queue.enqueue("prefetch", at: .prefetch)
    _ = queue.enqueue("visible", at: .visible)
    #expect(queue.peek() == "visible")
    #expect(queue.dequeue() == "visible")
    #expect(queue.dequeue() == "prefetch")
  }

  @Test func prefetchRunsInTheEndHoweverBusyTheUpperLevelIs() {
    var queue = TwoLevelQueue<Int>(aging: PriorityAging(interval: 3))
    _ = queue.enqueue(-1, at: .prefetch)
    for number in 0..<10 { _ = queue.enqueue(number, at: .visible) }
    let first = (0..<4).compactMap { _ in queue.dequeue() }
    #expect(first == [0, 1, 2, -1])
  }

  @Test func aRaisedElementOvertakesItsOldLevel() {
    var queue = TwoLevelQueue<Int>()
    _ = queue.enqueue(1, at: .prefetch)
    let second = queue.enqueue(2, at: .prefetch)
    queue.move(second, to: .visible)
    #expect(queue.dequeue() == 2)
    #expect(queue.dequeue() == 1)
    #expect(queue.dequeue() == nil)
  }

  @Test func aLoweredElementFallsBehind() {
    var queue = TwoLevelQueue<Int>()
    let first = queue.enqueue(1, at: .visible)
    _ = queue.enqueue(2, at: .visible)
    queue.move(first, to: .prefetch)
    #expect(queue.dequeue() == 2)
    #expect(queue.dequeue() == 1)
  }

  @Test func aRemovedElementIsNeverTaken() {
    var queue = TwoLevelQueue<Int>()
    let ticket = queue.enqueue(1, at: .visible)
    #expect(queue.remove(ticket) == 1)
    #expect(queue.remove(ticket) == nil)
    #expect(queue.dequeue() == nil)
  }

  @Test func whatHasLeftBehindTheHeadOfTheLineTakesNoMemory() {
    var queue = TwoLevelQueue<Int>()
    // While these wait at the heads, nobody comes past the places behind them.
    _ = queue.enqueue(-1, at: .visible)
    _ = queue.enqueue(-2, at: .prefetch)
    for number in 0..<10_000 {
      let ticket = queue.enqueue(number, at: number.isMultiple(of: 2) ? .visible : .prefetch)
      #expect(queue.remove(ticket) == number)
      #expect(queue.mentionCount <= 2 * queue.count + 64)
    }
    #expect(queue.count == 2)
    #expect([queue.dequeue(), queue.dequeue(), queue.dequeue()] == [-1, -2, nil])
  }

  @Test func whatMovesToAndFroTakesNoMemoryAndKeepsItsPlaces() {
    var queue = TwoLevelQueue<Int>()
    let tickets = (0..<3).map { queue.enqueue($0, at: .prefetch) }
    for _ in 0..<1_000 {
      for ticket in tickets { queue.move(ticket, to: .visible) }
      for ticket in tickets { queue.move(ticket, to: .prefetch) }
      #expect(queue.mentionCount <= 2 * queue.count + 64)
    }
    #expect((0..<4).map { _ in queue.dequeue() } == [0, 1, 2, nil])
  }

  @Test func everythingComesOutOnceWhateverHappens() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<50 {
      var queue = TwoLevelQueue<Int>()
      var tickets: [TwoLevelQueue<Int>.Ticket] = []
      var out: [Int] = []
      for number in 0..<200 {
        tickets.append(queue.enqueue(number, at: Bool.random(using: &generator) ? .visible : .prefetch))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: if let ticket = tickets.randomElement() { queue.move(ticket, to: .visible) }
        case 1: if let ticket = tickets.randomElement() { queue.move(ticket, to: .prefetch) }
        case 2: if let ticket = tickets.randomElement(), let element = queue.remove(ticket) { out.append(element) }
        default: if let element = queue.dequeue() { out.append(element) }
        }
      }
      while let element = queue.dequeue() { out.append(element) }
      #expect(out.sorted() == Array(0..<200))
    }
  }

  @Test func theFirstThatFitsIsTakenOutOfItsPlace() {
    var queue = TwoLevelQueue<Int>()
    for element in [1, 2] { _ = queue.enqueue(element, at: .prefetch) }
    let moved = queue.enqueue(4, at: .prefetch)
    _ = queue.enqueue(3, at: .visible)
    queue.move(moved, to: .visible)
    #expect(queue.removeFirst { $0.isMultiple(of: 2) } == 4)
    #expect(queue.removeFirst { $0 > 3 } == nil && queue.count == 3)
    #expect(queue.removeFirst { $0 < 3 } == 1)
    #expect(queue.dequeue() == 3 && queue.dequeue() == 2 && queue.isEmpty)
  }
}
