import DequeModule
import Synchronization
import ThumbnailCore

/// The threads of a conversion: each converts one input after the other, from the open file to the written thumbnails.
///
/// What has become of them is for one consumer. While it has not taken a few, lanes end, and begin again afterwards.
final class ConversionLanes: Sendable {
  private struct State {
    var inputs: Deque<StaleInput> = []
    var finished: [InputConversion.Outcome] = []
    /// The lanes that work, or begin to.
    var lanes = 0
    var consumer: Consumer?
  }

  private typealias Consumer = Promise<[InputConversion.Outcome], Never>

  private let work: InputConversion
  /// The most lanes.
  private let most: Int
  /// The most inputs that are being converted, or are finished and not taken.
  private let window: Int
  private let cancellation = CancellationFlag()
  private let state = Mutex(State())

  init(_ work: InputConversion) {
    self.work = work
    let jobs = work.pipeline.configuration.jobs
    (most, window) = (2 * jobs, 4 * jobs)
  }

  /// Whether lanes would end for want of inputs.
  var needsInputs: Bool { !cancellation.isSet && state.withLock { $0.inputs.isEmpty } }

  func add(_ inputs: [StaleInput]) {
    state.withLock { $0.inputs += inputs }
    settle()
  }

  /// What has become of the next inputs; empty when all are done. Cancelling the calling task stops the lanes.
  func next() async -> [InputConversion.Outcome] {
    let promise = Consumer()
    state.withLock { $0.consumer = promise }
    settle()
    return await promise.wait { [self] in stop() }.get()
  }

  /// Begins nothing more, and cancels the work under way. What was written is still for the consumer.
  func stop() {
    cancellation.set()
    settle()
  }

  /// Gives the consumer what is finished, and has lanes begin.
  private func settle() {
    var (consumer, outcomes): (Consumer?, [InputConversion.Outcome]) = (nil, [])
    let beginning = state.withLock { state in
      if cancellation.isSet { state.inputs.removeAll() }
      let room = min(most - state.lanes, window - state.finished.count - state.lanes)
      let beginning = max(0, min(room, state.inputs.count))
      state.lanes += beginning
      if !state.finished.isEmpty || state.lanes == 0 {
        consumer = state.consumer.take()
        if consumer != nil { swap(&outcomes, &state.finished) }
      }
      return beginning
    }
    for _ in 0..<beginning { Task { try await work.pipeline.lanes.run { [self] _ in drive() } } }
    consumer?.resume(with: .success(outcomes))
  }

  /// Converts inputs until there are none, or too many are not taken.
  private func drive() {
    var outcome: InputConversion.Outcome?
    while let input = next(after: outcome) {
      outcome = work.convert(input, cancellation)
    }
    settle()
  }

  private func next(after outcome: InputConversion.Outcome?) -> StaleInput? {
    defer { if outcome != nil { settle() } }
    return state.withLock { state in
      if let outcome { state.finished.append(outcome) }
      let isFull = state.finished.count + state.lanes > window
      guard !isFull, !cancellation.isSet, let input = state.inputs.popFirst() else {
        state.lanes -= 1
        return nil
      }
      return input
    }
  }
}
