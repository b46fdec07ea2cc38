package import HTTPTransport
import Synchronization

/// Runs tasks at the same time, a bounded number of them, and hands out their results in the order of completion. For a
/// single consumer, who starts tasks while `hasRoom`.
///
/// Tasks that wait for silent servers do not hold up others: see `InFlightWindow`. Dropping the window cancels its
/// tasks.
package final class TaskWindow<Output: Sendable> {
  /// What a consumer waits for.
  package enum Event: Sendable {
    /// A task has ended.
    case output(Output)
    /// A server has fallen silent or responds again: `hasRoom` and `uncounted` may have changed.
    case silence
  }

  private enum Arrival: Sendable {
    /// `number` is nil for a task that takes no place in the window.
    case output(Output, number: Int?)
    case silence(ServerSilence, number: Int)
  }

  private var inFlight: InFlightWindow
  private let tasks: TaskBag
  private let waitsWhenCancelled: Bool
  private let arrivals: AsyncStream<Arrival>
  private let continuation: AsyncStream<Arrival>.Continuation
  private var lastNumber = 0

  /// An empty window.
  ///
  /// - Parameters:
  ///   - capacity: The most tasks, apart from those that wait for silent servers.
  ///   - tasks: Where the running tasks are kept, for an owner that cancels them or waits for their end.
  ///   - waitsWhenCancelled: Whether a cancelled consumer still gets the results of the tasks that are running, instead
  ///     of nil. Its owner has to cancel them then.
  package init(capacity: Int, tasks: TaskBag = TaskBag(), waitsWhenCancelled: Bool = false) {
    inFlight = InFlightWindow(capacity: capacity)
    self.tasks = tasks
    self.waitsWhenCancelled = waitsWhenCancelled
    (arrivals, continuation) = AsyncStream.makeStream(of: Arrival.self)
  }

  deinit { tasks.cancelAll() }

  /// Whether another task may start.
  package var hasRoom: Bool { inFlight.hasRoom }
  /// Whether there are tasks in the window whose results have not been taken.
  package var isEmpty: Bool { inFlight.count == 0 }
  /// The number of tasks that are not counted, since they wait for silent servers.
  package var uncounted: Int { inFlight.uncounted }

  /// Starts a task, to which `report` is for what it hears of its server.
  package func start(
    _ work: @escaping @Sendable (_ report: @escaping @Sendable (ServerSilence) -> Void) async -> Output
  ) {
    lastNumber += 1
    inFlight.begin(lastNumber)
    tasks.start { [continuation, number = lastNumber] in
      let output = await work { continuation.yield(.silence($0, number: number)) }
      continuation.yield(.output(output, number: number))
    }
  }

  /// Starts a task that takes no place in the window.
  package func startBeside(_ work: @escaping @Sendable () async -> Output) {
    tasks.start { [continuation] in continuation.yield(.output(await work(), number: nil)) }
  }

  /// Waits for the next event, of which there has to be one: some task must be running.
  ///
  /// Nil in a cancelled task, after the results that had arrived: then the tasks are cancelled as well.
  package func next() async -> Event? {
    switch await nextArrival() {
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

  private func nextArrival() async -> Arrival? {
    guard waitsWhenCancelled else { return await arrivals.first { _ in true } }
    // A task of its own is not cancelled with the consumer's, which would end the stream.
    return await Task { [arrivals] in await arrivals.first { _ in true } }.value
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
      // The task removes itself, which waits for the lock until it has been added.
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
