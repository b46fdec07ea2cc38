import DequeModule

/// A waiting line with two levels: visible before prefetch, first come first served within each.
///
/// So that prefetch work runs in the end however busy the upper level is, every `agingInterval`-th element taken while
/// both levels wait comes from the lower one. All operations take constant time, amortised. A pure value: its owner
/// guards it.
package struct TwoLevelQueue<Element> {
  /// Names one waiting element until it is taken or removed.
  package struct Ticket: Hashable, Sendable { fileprivate let number: UInt64 }

  private struct Entry {
    var element: Element
    var level: Priority
    /// Where the entry stands in its line; older mentions of its ticket are void.
    var stamp: UInt64
  }

  private struct Mention {
    var ticket: Ticket
    var stamp: UInt64
  }

  /// After so many elements of the upper level in a row, one of the lower level goes first.
  let agingInterval: Int
  private var entries: [Ticket: Entry] = [:]
  private var visible: Deque<Mention> = []
  private var prefetch: Deque<Mention> = []
  private var nextNumber: UInt64 = 0
  private var visibleTakenInARow = 0

  package init(agingInterval: Int = 8) {
    self.agingInterval = agingInterval
  }

  /// The number of waiting elements.
  var count: Int { entries.count }
  /// Whether nothing waits.
  package var isEmpty: Bool { entries.isEmpty }
  /// The places in both lines, those of elements that have left before their turn included: what the queue keeps in
  /// memory. At most twice `count` and 64.
  var mentionCount: Int { visible.count + prefetch.count }

  /// Puts an element at the end of its level's line.
  package mutating func enqueue(_ element: Element, at level: Priority) -> Ticket {
    nextNumber += 1
    let ticket = Ticket(number: nextNumber)
    entries[ticket] = Entry(element: element, level: level, stamp: nextNumber)
    let mention = Mention(ticket: ticket, stamp: nextNumber)
    line(of: level) { $0.append(mention) }
    return ticket
  }

  /// A waiting element, left in its place; nil when it was taken already.
  package func element(of ticket: Ticket) -> Element? { entries[ticket]?.element }

  /// Takes an element out before its turn; nil when it was taken already.
  package mutating func remove(_ ticket: Ticket) -> Element? {
    let removed = entries.removeValue(forKey: ticket)?.element
    compactIfNeeded()
    return removed
  }

  /// Moves a waiting element to the end of another level's line; nothing happens when it is there or gone.
  package mutating func move(_ ticket: Ticket, to level: Priority) {
    guard let entry = entries[ticket], entry.level != level else { return }
    nextNumber += 1
    entries[ticket]?.level = level
    entries[ticket]?.stamp = nextNumber
    let mention = Mention(ticket: ticket, stamp: nextNumber)
    line(of: level) { $0.append(mention) }
    compactIfNeeded()
  }

  /// The element whose turn it is, left in its place.
  mutating func peek() -> Element? {
    nextLevel().flatMap { head(of: $0) }.flatMap { entries[$0] }?.element
  }

  /// Takes the element whose turn it is.
  mutating func dequeue() -> Element? {
    guard let level = nextLevel(), let ticket = head(of: level) else { return nil }
    line(of: level) { _ = $0.popFirst() }
    visibleTakenInARow = level == .visible && !prefetch.isEmpty ? visibleTakenInARow + 1 : 0
    return entries.removeValue(forKey: ticket)?.element
  }

  /// The first element of one level, left in its place.
  package mutating func peek(at level: Priority) -> Element? {
    head(of: level).flatMap { entries[$0] }?.element
  }

  /// Takes the first element of one level, whoever's turn it is.
  package mutating func dequeue(at level: Priority) -> Element? {
    guard let ticket = head(of: level) else { return nil }
    line(of: level) { _ = $0.popFirst() }
    return entries.removeValue(forKey: ticket)?.element
  }

  /// Takes the first element that fits, those of the upper level first, whoever's turn it is. Looks at all of them.
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
    let visibleWaits = head(of: .visible) != nil
    let prefetchWaits = head(of: .prefetch) != nil
    if visibleWaits && prefetchWaits { return visibleTakenInARow >= agingInterval ? .prefetch : .visible }
    return visibleWaits ? .visible : prefetchWaits ? .prefetch : nil
  }

  /// The first valid ticket of a line, void mentions before it dropped.
  private mutating func head(of level: Priority) -> Ticket? {
    line(of: level) { [entries] line in
      while let mention = line.first {
        if entries[mention.ticket]?.stamp == mention.stamp { return mention.ticket }
        line.removeFirst()
      }
      return nil
    }
  }

  @discardableResult
  private mutating func line<Result>(of level: Priority, _ body: (inout Deque<Mention>) -> Result) -> Result {
    switch level {
    case .visible: body(&visible)
    case .prefetch: body(&prefetch)
    }
  }

  /// Drops void mentions once they outnumber the waiting elements, so that cancelled work leaves no trace.
  private mutating func compactIfNeeded() {
    guard mentionCount > 2 * entries.count + 64 else { return }
    visible.removeAll { [entries] in entries[$0.ticket]?.stamp != $0.stamp }
    prefetch.removeAll { [entries] in entries[$0.ticket]?.stamp != $0.stamp }
  }
}
