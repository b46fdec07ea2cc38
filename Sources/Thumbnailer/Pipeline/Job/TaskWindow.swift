import DequeModule
package import HTTPTransport
import Synchronization
import ThumbnailCore

/// Runs a bounded number of concurrent tasks, and delivers their results in the order of completion. For a single
/// consumer, which starts tasks while `hasRoom`.
///
/// Tasks that wait for silent servers do not delay others (`InFlightWindow`). Dropping the window cancels its tasks.
package final class TaskWindow<Output: Sendable> {
  /// The events that a consumer waits for.
  package enum Event: Sendable {
    /// A task has ended.
    case output(Output)
    /// A server has fallen silent or responds again: `hasRoom` and `uncounted` may have changed.
    case silence
  }

  private enum Arrival: Sendable {
    /// `number` is nil for a task outside of the window.
    case output(Output, number: Int?)
    case silence(ServerSilence, number: Int)
  }

  private var inFlight: InFlightWindow
  private let tasks: TaskBag
  private let waitsWhenCancelled: Bool
  private let arrivals = Arrivals<Arrival>()
  private var lastNumber = 0

  /// An empty window.
  ///
  /// - Parameters:
  ///   - capacity: The most tasks, without those that wait for silent servers.
  ///   - tasks: Holds the running tasks, for an owner that cancels them or waits for their end.
  ///   - waitsWhenCancelled: Whether a cancelled consumer still gets the results of the running tasks, instead of nil.
  ///     Then the owner has to cancel them.
  package init(capacity: Int, tasks: TaskBag = TaskBag(), waitsWhenCancelled: Bool = false) {
    inFlight = InFlightWindow(capacity: capacity)
    self.tasks = tasks
    self.waitsWhenCancelled = waitsWhenCancelled
  }

  deinit { tasks.cancelAll() }

  /// Whether another task may start.
  package var hasRoom: Bool { inFlight.hasRoom }
  /// Whether there are tasks in the window whose results have not been taken.
  package var isEmpty: Bool { inFlight.count == 0 }
  /// The number of tasks that do not count, because they wait for silent servers.
  package var uncounted: Int { inFlight.uncounted }

  /// Starts a task, which calls `report` when its server falls silent or responds again.
  package func start(
    _ work: @escaping @Sendable (_ report: @escaping @Sendable (ServerSilence) -> Void) async -> Output
  ) {
    lastNumber += 1
    inFlight.begin(lastNumber)
    tasks.start { [arrivals, number = lastNumber] in
      let output = await work { arrivals.add(.silence($0, number: number)) }
      arrivals.add(.output(output, number: number))
    }
  }

  /// Starts a task outside of the window.
  package func startBeside(_ work: @escaping @Sendable () async -> Output) {
    tasks.start { [arrivals] in arrivals.add(.output(await work(), number: nil)) }
  }

  /// Waits for the next event. A task must be running.
  ///
  /// In a cancelled task, returns the results that have arrived, then nil. Then the tasks are cancelled as well.
  package func next() async -> Event? {
    switch await arrivals.next(waitsWhenCancelled: waitsWhenCancelled) {
    case .output(let output, let number):
      if let number { inFlight.end(number) }
      return .output(output)
    case .silence(let silence, let number):
      inFlight.setSilence(number, silence)
      return .silence
    case nil:
      tasks.cancelAll()
      return nil
    }
  }

}

/// A queue of elements for a single consumer. Unlike an `AsyncStream`, it continues after its consumer was cancelled.
private final class Arrivals<Element: Sendable>: Sendable {
  private struct State {
    var elements = Deque<Element>()
    /// Set while the consumer waits.
    var consumer: Promise<Element?, Never>?

    mutating func takeConsumer() -> Promise<Element?, Never>? {
      defer { consumer = nil }
      return consumer
    }
  }

  private let state = Mutex(State())

  func add(_ element: Element) {
    let consumer = state.withLock { state in
      let consumer = state.takeConsumer()
      if consumer == nil { state.elements.append(element) }
      return consumer
    }
    consumer?.resume(with: .success(element))
  }

  /// Waits for the next element. In a cancelled task, returns nil if there is none, unless `waitsWhenCancelled`.
  func next(waitsWhenCancelled: Bool) async -> Element? {
    if let element = state.withLock({ $0.elements.popFirst() }) { return element }
    if !waitsWhenCancelled, Task.isCancelled { return nil }
    let promise = Promise<Element?, Never>()
    let element = state.withLock { state in
      let element = state.elements.popFirst()
      if element == nil { state.consumer = promise }
      return element
    }
    if let element { return element }
    return await promise.wait { [self] in
      guard !waitsWhenCancelled else { return }
      state.withLock { $0.takeConsumer() }?.resume(with: .success(nil))
    }.get()
  }
}

/// Running tasks that can be cancelled together; finished ones are removed.
package final class TaskBag: Sendable {
  private let state = Mutex<(next: Int, tasks: [Int: Task<Void, Never>])>((0, [:]))

  package init() {}

  package func start(_ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      state.next += 1
      let number = state.next
      // The task removes itself. It waits for the lock, so it was added before.
      state.tasks[number] = Task { [weak self] in
        await work()
        self?.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
      }
    }
  }

  package func cancelAll() {
    let tasks = state.withLock { Array($0.tasks.values) }
    for task in tasks { task.cancel() }
  }

  /// Waits until all current tasks have ended.
  package func waitForAll() async {
    for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
  }
}
