import DequeModule
import Synchronization
import ThumbnailCore

/// The threads of a conversion: each converts one input after the other, from the open file to the written thumbnails.
///
/// What has become of them is for one consumer. Lanes end while it does not take that, or while another conversion waits
/// for a thread, and begin again afterwards.
final class ConversionLanes: Sendable {
  private struct State {
    var inputs: Deque<StaleInput> = []
    var finished: [InputConversion.Outcome] = []
    /// The lanes that work, or begin to.
    var lanes = 0
    /// Those of them that write, or have written what is not finished.
    var writing = 0
    var consumer: Consumer?
  }

  private typealias Consumer = Promise<[InputConversion.Outcome], Never>

  private let work: InputConversion
  private let pool: WorkerPool
  /// The most inputs that are being converted, or are finished and not handed over.
  private let window: Int
  private let cancellation = CancellationFlag()
  private let state = Mutex(State())

  init(_ work: InputConversion) {
    (self.work, pool) = (work, work.pipeline.lanes)
    window = 4 * work.pipeline.configuration.jobs
  }

  var isStopped: Bool { cancellation.isSet }
  /// Whether lanes will soon end for want of inputs.
  var needsInputs: Bool { !isStopped && state.withLock { $0.inputs.count < window } }

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

  /// Begins nothing more, and cancels the work under way. What is being written is still for the consumer; a lane whose
  /// disk does not respond is not waited for.
  func stop() {
    cancellation.set()
    settle()
  }

  /// Gives the consumer what is finished, and has lanes begin.
  private func settle() {
    var (consumer, outcomes): (Consumer?, [InputConversion.Outcome]) = (nil, [])
    let beginning = state.withLock { state in
      if isStopped { state.inputs.removeAll() }
      if !state.finished.isEmpty {
        consumer = state.consumer.take()
        if consumer != nil { swap(&outcomes, &state.finished) }
      }
      let room = min(pool.threads - state.lanes, window - state.finished.count - state.lanes)
      let beginning = max(0, min(room, state.inputs.count))
      state.lanes += beginning
      if state.finished.isEmpty, (isStopped ? state.writing : state.lanes) == 0 {
        consumer = consumer ?? state.consumer.take()
      }
      return beginning
    }
    for _ in 0..<beginning { Task { try await pool.run { [self] _ in drive() } } }
    consumer?.resume(with: .success(outcomes))
  }

  /// Converts inputs until there are none, or others have to go on first.
  private func drive() {
    var outcome: InputConversion.Outcome?
    var isWriting = false
    while let input = next(after: outcome, hasWritten: isWriting) {
      isWriting = false
      outcome = work.convert(input, cancellation) { [self] in
        isWriting = isWriting || beginsWriting()
        return isWriting
      }
    }
    settle()
  }

  private func beginsWriting() -> Bool {
    state.withLock { state in
      if isStopped { return false }
      state.writing += 1
      return true
    }
  }

  private func next(after outcome: InputConversion.Outcome?, hasWritten: Bool) -> StaleInput? {
    // Pictures that come while a folder is watched do not wait for all others.
    let givesWay = outcome != nil && pool.waiting > 0
    defer { if outcome != nil { settle() } }
    return state.withLock { state in
      if let outcome { state.finished.append(outcome) }
      if hasWritten { state.writing -= 1 }
      let isFull = state.finished.count + state.lanes > window
      guard !isFull, !givesWay, !isStopped, let input = state.inputs.popFirst() else {
        state.lanes -= 1
        return nil
      }
      return input
    }
  }
}
