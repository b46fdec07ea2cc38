import DequeModule
import ThumbnailCore
import Thumbnailer

extension Conversion {
  /// Checks the next batch of inputs. Empty at the end; nil if the task was cancelled.
  func nextFindings() async -> [InputCheck.Finding]? {
    try? await pool.run { [self] cancelled in findings(cancelled) }
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

  func count(_ result: ConversionResult) { state.withLock { $0.summary.count(result) } }

  func fail(_ error: ConversionError) {
    state.withLock { if $0.summary.failure == nil { $0.summary.failure = error } }
  }

  /// Delivers results, and bounds the inputs in flight to a few for each worker.
  public final class Iterator: AsyncIteratorProtocol {
    private let conversion: Conversion
    private var ready = Deque<ConversionResult>()
    private var outcomes: ArraySlice<InputConversion.Outcome> = []
    private var isExhausted = false

    init(_ conversion: Conversion) { self.conversion = conversion }

    deinit { conversion.lanes?.stop() }

    /// The next completed result; nil at the end. In a cancelled task, the results that still completed.
    public func next() async -> ConversionResult? {
      while true {
        if Task.isCancelled { stop() }
        if let result = ready.popFirst() { return result }
        if !isExhausted, conversion.lanes?.needsInputs != false {
          await look()
        } else if let outcome = outcomes.popFirst() {
          if let error = outcome.endsRun {
            conversion.fail(error)
            stop()
          }
          conversion.count(outcome.result)
          return outcome.result
        } else {
          outcomes = await conversion.lanes?.next()[...] ?? []
          if outcomes.isEmpty, isExhausted || conversion.lanes?.isStopped != false { return nil }
        }
      }
    }

    private func look() async {
      guard let findings = await conversion.nextFindings(), !findings.isEmpty else {
        isExhausted = true
        return
      }
      var stale: [StaleInput] = []
      for finding in findings {
        switch finding {
        case .unchanged: break
        case .stale(let input): stale.append(input)
        case .finished(let result):
          ready.append(result)
          conversion.count(result)
        }
      }
      conversion.lanes?.add(stale)
    }

    /// Starts nothing more, and cancels the work in flight.
    private func stop() {
      isExhausted = true
      conversion.lanes?.stop()
    }
  }
}
