@testable import Thumbnailer

@Suite(.timeLimit(.minutes(5))) struct TaskWindowTests {
  /// A task that ends when told to, or -1 when it is cancelled.
  private struct Held {
    private let signal: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() { (signal, continuation) = AsyncStream.makeStream(of: Int.self) }

    var work: @Sendable () async -> Int {
      { [signal] in
        for await value in signal { return value }
        return -1
      }
    }

    func end(_ value: Int) { continuation.yield(value) }
  }

  private func output(_ window: TaskWindow<Int>) async -> Int? {
    while let event = await window.next() { if case .output(let output) = event { return output } }
    return nil
  }

  @Test func resultsComeInTheOrderOfCompletionAndMakeRoom() async {
    let window = TaskWindow<Int>(capacity: 2)
    let (first, second) = (Held(), Held())
    window.start { _ in await first.work() }
    window.start { _ in await second.work() }
    #expect(!window.hasRoom)
    second.end(2)
    #expect(await output(window) == 2 && window.hasRoom && !window.isEmpty)
    first.end(1)
    #expect(await output(window) == 1 && window.isEmpty)
  }

  @Test func aTaskBesideTheWindowTakesNoPlace() async {
    let window = TaskWindow<Int>(capacity: 1)
    window.startBeside { 7 }
    #expect(window.hasRoom && window.isEmpty)
    #expect(await output(window) == 7)
  }

  @Test func aTaskWaitingForASilentServerGivesItsPlaceOnceALaterOneIsDone() async {
    let window = TaskWindow<Int>(capacity: 1)
    let held = Held()
    window.start { report in
      report(.deferred)
      return await held.work()
    }
    guard case .silence = await window.next() else {
      Issue.record("the silence was not reported")
      return
    }
    #expect(window.uncounted == 1 && window.hasRoom && !window.isEmpty)
    held.end(1)
    #expect(await output(window) == 1 && window.uncounted == 0)
  }

  @Test func aCancelledConsumerGetsNilAndItsTasksEnd() async {
    let bag = TaskBag()
    let ended = Held()
    await Task {
      let window = TaskWindow<Int>(capacity: 1, tasks: bag)
      let never = Held()
      window.start { _ in
        let value = await never.work()
        ended.end(value)
        return value
      }
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(await output(window) == nil)
    }.value
    #expect(await ended.work() == -1)
    await bag.waitForAll()
  }

  @Test func aCancelledConsumerThatWaitsGetsTheResultsOfTheTasksItCancels() async {
    await Task {
      let bag = TaskBag()
      let window = TaskWindow<Int>(capacity: 2, tasks: bag, waitsWhenCancelled: true)
      for _ in 0..<2 {
        let never = Held()
        window.start { _ in await never.work() }
      }
      withUnsafeCurrentTask { $0?.cancel() }
      bag.cancelAll()
      for _ in 0..<2 { #expect(await output(window) == -1) }
      #expect(window.isEmpty)
    }.value
  }

  @Test func droppingTheWindowCancelsItsTasks() async {
    let ended = Held()
    var window: TaskWindow<Int>? = TaskWindow(capacity: 1)
    let never = Held()
    window?.start { _ in
      let value = await never.work()
      ended.end(value)
      return value
    }
    window = nil
    #expect(await ended.work() == -1)
  }
}
