package import DequeModule

/// A queue with two priority levels: visible before prefetch, first come, first served within each.
///
/// `PriorityAging` keeps prefetch work from being starved. All operations take amortised constant time. A pure value;
/// its owner synchronises access. Inlinable, because another module uses it for downloads.
package struct TwoLevelQueue<Element> {
  /// Identifies a waiting element until it is taken or removed.
  package struct Ticket: Hashable, Sendable { @usableFromInline let number: UInt64 }

  @usableFromInline struct Entry {
    @usableFromInline var element: Element
    @usableFromInline var level: Priority
    /// Identifies the entry's valid position; mentions of its ticket with an older stamp are void.
    @usableFromInline var stamp: UInt64
  }

  @usableFromInline struct Mention {
    @usableFromInline var ticket: Ticket
    @usableFromInline var stamp: UInt64
  }

  @usableFromInline var entries: [Ticket: Entry] = [:]
  @usableFromInline var visible: Deque<Mention> = []
  @usableFromInline var prefetch: Deque<Mention> = []
  private var nextNumber: UInt64 = 0
  private var aging: PriorityAging

  package init(aging: PriorityAging = PriorityAging()) {
    self.aging = aging
  }

  /// The number of waiting elements.
  var count: Int { entries.count }
  /// Whether no element waits.
  @inlinable package var isEmpty: Bool { entries.isEmpty }
  /// The positions in both queues, including void ones of elements that left early: the memory of the queue. At most
  /// twice `count` plus 64.
  var mentionCount: Int { visible.count + prefetch.count }

  /// Appends an element to its level's queue.
  package mutating func enqueue(_ element: Element, at level: Priority) -> Ticket {
    nextNumber += 1
    let ticket = Ticket(number: nextNumber)
    entries[ticket] = Entry(element: element, level: level, stamp: nextNumber)
    let mention = Mention(ticket: ticket, stamp: nextNumber)
    line(of: level) { $0.append(mention) }
    return ticket
  }

  /// All waiting elements, in no order.
  package var elements: some Sequence<Element> { entries.values.lazy.map(\.element) }

  /// Removes an element before its turn; nil when it was already taken.
  package mutating func remove(_ ticket: Ticket) -> Element? {
    let removed = entries.removeValue(forKey: ticket)?.element
    compactIfNeeded()
    return removed
  }

  /// Moves a waiting element to the end of the other level's queue; does nothing when it is there already or gone.
  package mutating func move(_ ticket: Ticket, to level: Priority) {
    guard let entry = entries[ticket], entry.level != level else { return }
    nextNumber += 1
    entries[ticket]?.level = level
    entries[ticket]?.stamp = nextNumber
    let mention = Mention(ticket: ticket, stamp: nextNumber)
    line(of: level) { $0.append(mention) }
    compactIfNeeded()
  }

  /// The next element, left in the queue.
  mutating func peek() -> Element? {
    nextLevel().flatMap { head(of: $0) }.flatMap { entries[$0] }?.element
  }

  /// Takes the next element.
  mutating func dequeue() -> Element? {
    guard let level = nextLevel(), let ticket = head(of: level) else { return nil }
    line(of: level) { _ = $0.popFirst() }
    aging.take(level, prefetchWaits: !prefetch.isEmpty)
    return entries.removeValue(forKey: ticket)?.element
  }

  /// The first element of one level, left in the queue.
  @inlinable
  package mutating func peek(at level: Priority) -> Element? {
    head(of: level).flatMap { entries[$0] }?.element
  }

  /// Takes the first element of one level, whatever its turn.
  @inlinable
  package mutating func dequeue(at level: Priority) -> Element? {
    guard let ticket = head(of: level) else { return nil }
    line(of: level) { _ = $0.popFirst() }
    return entries.removeValue(forKey: ticket)?.element
  }

  /// Takes a random element of one level; the first one is more likely if many elements were removed or moved.
  package mutating func dequeue(at level: Priority, using random: inout some RandomNumberGenerator) -> Element? {
    for _ in 0..<Self.mostDraws {
      let drawn = line(of: level) { $0.randomElement(using: &random) }
      guard let drawn else { return nil }
      if entries[drawn.ticket]?.stamp == drawn.stamp { return remove(drawn.ticket) }
    }
    return dequeue(at: level)
  }

  private static var mostDraws: Int { 16 }

  /// Takes the first matching element, upper level first, whatever its turn. Linear time.
  mutating func removeFirst(where isWanted: (Element) -> Bool) -> Element? {
    for line in [visible, prefetch] {
      for mention in line {
        guard let entry = entries[mention.ticket], entry.stamp == mention.stamp, isWanted(entry.element) else {
          continue
        }
        return remove(mention.ticket)
      }
    }
    return nil
  }

  private mutating func nextLevel() -> Priority? {
    aging.next(visibleWaits: head(of: .visible) != nil, prefetchWaits: head(of: .prefetch) != nil)
  }

  /// The first valid ticket of a level; drops the void mentions before it.
  @inlinable
  mutating func head(of level: Priority) -> Ticket? {
    line(of: level) { [entries] line in
      while let mention = line.first {
        if entries[mention.ticket]?.stamp == mention.stamp { return mention.ticket }
        line.removeFirst()
      }
      return nil
    }
  }

  @inlinable
  @discardableResult
  mutating func line<Result>(of level: Priority, _ body: (inout Deque<Mention>) -> Result) -> Result {
    switch level {
    case .visible: body(&visible)
    case .prefetch: body(&prefetch)
    }
  }

  /// Drops void mentions once they outnumber the waiting elements, so that cancelled work uses no memory.
  private mutating func compactIfNeeded() {
    guard mentionCount > 2 * entries.count + 64 else { return }
    visible.removeAll { [entries] in entries[$0.ticket]?.stamp != $0.stamp }
    prefetch.removeAll { [entries] in entries[$0.ticket]?.stamp != $0.stamp }
  }
}
