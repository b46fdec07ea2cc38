import Synchronization

@testable import ThumbnailCore

/// Values that change under the eyes of their observers.
@Suite(.timeLimit(.minutes(5))) struct ObservedValueTests {
  @Test func anObserverHearsOfTheValueNowAndOfEachChange() {
    let value = ObservedValue(1)
    let seen = Mutex<[Int]>([])
    let number = value.observe { level in seen.withLock { $0.append(level) } }
    value.set(2)
    value.set(2)
    value.stopObserving(number)
    value.set(3)
    #expect(seen.withLock { $0 } == [1, 2])
  }

  @Test func whoKnowsTheValueHearsOnlyOfWhatIsNew() {
    let value = ObservedValue(1)
    let seen = Mutex<[Int]>([])
    let current = value.observe(since: 1) { level in seen.withLock { $0.append(level) } }
    #expect(seen.withLock { $0 }.isEmpty)
    // It changed between the reading and this.
    let late = value.observe(since: 0) { level in seen.withLock { $0.append(10 * level) } }
    #expect(seen.withLock { $0 } == [10])
    value.set(2)
    #expect(seen.withLock { $0 } == [10, 2, 20])
    value.stopObserving(current)
    value.stopObserving(current)
    value.set(3)
    #expect(seen.withLock { $0 } == [10, 2, 20, 30])
    value.stopObserving(late)
  }
}
