import DequeModule
import Synchronization
import ThumbnailCore
import Thumbnailer

extension Conversion {
  /// Checks the next batch of inputs. Empty at the end; nil if the task was cancelled.
  func nextFindings() async -> [InputCheck.Finding]? {
    try? await pool.run(priority: PriorityControl(.visible)) { [self] cancelled in
      Result<[InputCheck.Finding], Never>.success(findings(cancelled))
    }.get()
  }

  private func findings(_ cancelled: CancellationFlag) -> [InputCheck.Finding] {
    var findings: [InputCheck.Finding] = []
    var position = state.withLock(\.next)
    while findings.count < Self.batch, position < count, !cancelled.isSet {
      findings.append(check.check(position))
      position += 1
    }
    state.withLock { $0.next = position }
    return findings
  }

  /// Starts the conversion of an input; its outcome goes to `queue`.
  func begin(_ input: StaleInput, _ queue: OutcomeQueue) {
    guard let work else { return queue.push(nil) }
    running.start { queue.push(await work.convert(input)) }
  }

  func count(_ result: ConversionResult) { state.withLock { $0.summary.count(result) } }

  func fail(_ error: ConversionError) {
    state.withLock { if $0.summary.failure == nil { $0.summary.failure = error } }
  }

  func cancel() { running.cancelAll() }

  /// Delivers results, and bounds the inputs in flight to a few for each worker.
  public final class Iterator: AsyncIteratorProtocol {
    private let conversion: Conversion
    private let outcomes = OutcomeQueue()
    private var stale = Deque<StaleInput>()
    private var ready = Deque<ConversionResult>()
    private var underWay = 0
    private var isExhausted = false

    init(_ conversion: Conversion) { self.conversion = conversion }

    deinit { conversion.cancel() }

    /// The next completed result; nil at the end. In a cancelled task, the results that completed nevertheless.
    public func next() async -> ConversionResult? {
      while true {
        if Task.isCancelled { stop() }
        while underWay < conversion.window, let input = stale.popFirst() {
          underWay += 1
          conversion.begin(input, outcomes)
        }
        if let result = ready.popFirst() { return result }
        if stale.isEmpty, !isExhausted {
          await look()
        } else if underWay > 0 {
          if let result = await nextOutcome() { return result }
        } else {
          return nil
        }
      }
    }

    private func look() async {
      guard let findings = await conversion.nextFindings(), !findings.isEmpty else {
        isExhausted = true
        return
      }
      for finding in findings {
        switch finding {
        case .stale(let input): stale.append(input)
        case .finished(let result):
          ready.append(result)
          guard take(result) else { return }
        }
      }
    }

    private func nextOutcome() async -> ConversionResult? {
      let outcome = await outcomes.pop()
      underWay -= 1
      guard let outcome else { return nil }
      if let error = outcome.endsRun {
        conversion.fail(error)
        stop()
      }
      _ = take(outcome.result)
      return outcome.result
    }

    /// Counts a result. False if it ends the run.
    private func take(_ result: ConversionResult) -> Bool {
      conversion.count(result)
      guard conversion.plan.options.failsFast, result.status == .failed else { return true }
      stop()
      return false
    }

    /// Starts nothing more, and cancels what is in flight.
    private func stop() {
      isExhausted = true
      stale.removeAll()
      conversion.cancel()
    }
  }
}

/// The outcomes of the inputs in flight, in order of completion. For a single consumer.
final class OutcomeQueue: Sendable {
  private let state = Mutex((outcomes: Deque<InputConversion.Outcome?>(), waiter: Waiter?.none))
  private typealias Waiter = CheckedContinuation<InputConversion.Outcome?, Never>

  func push(_ outcome: InputConversion.Outcome?) {
    let waiter = state.withLock { state -> Waiter? in
      if state.waiter == nil { state.outcomes.append(outcome) }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: outcome)
  }

  /// Waits for the next outcome, even in a cancelled task: what is in flight then ends soon.
  func pop() async -> InputConversion.Outcome? {
    await withCheckedContinuation { continuation in
      let outcome = state.withLock { state -> InputConversion.Outcome?? in
        if let outcome = state.outcomes.popFirst() { return .some(outcome) }
        state.waiter = continuation
        return .none
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }
}
