import DequeModule
import Synchronization
import ThumbnailCore

/// The threads of a conversion: each converts one input after the other, from the open file to the written thumbnails.
/// While a helper decodes an input, its lane encodes and writes the last one.
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
  /// The most lanes.
  private let most: Int
  /// With as many that are finished and not handed over, no more are begun. Fewer that wait are too few.
  private let window: Int
  /// The inputs that a lane converts before another conversion has its thread.
  private static let turn = 8
  private let cancellation = CancellationFlag()
  private let state = Mutex(State())

  /// - Parameter folders: Where it reads and writes. Where calls take long, there are two lanes for each helper.
  init(_ work: InputConversion, in folders: [RawPath]) {
    let jobs = work.pipeline.configuration.jobs
    (self.work, pool, window) = (work, work.pipeline.lanes, 4 * jobs)
    most = folders.contains(where: \.isRemote) ? pool.threads : jobs
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
  ///
  /// - Parameters:
  ///   - finished: What a lane has finished.
  ///   - hasWritten: Whether it was allowed to write for that.
  private func settle(_ finished: InputConversion.Finished? = nil, hasWritten: Bool = false) {
    var (consumer, outcomes): (Consumer?, [InputConversion.Outcome]) = (nil, [])
    let beginning = state.withLock { state in
      switch finished {
      case .outcome(let outcome)?: state.finished.append(outcome)
      case .again(let input)?: state.inputs.prepend(input)
      case nil: break
      }
      if hasWritten { state.writing -= 1 }
      if isStopped { state.inputs.removeAll() }
      if !state.finished.isEmpty {
        consumer = state.consumer.take()
        if consumer != nil { swap(&outcomes, &state.finished) }
      }
      let room = state.finished.count < window ? most - state.lanes : 0
      let beginning = min(room, state.inputs.count)
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
    var last: InputConversion.Finish?
    func finishLast() {
      guard let finish = last.take() else { return }
      var isWriting = false
      let finished = finish {
        isWriting = beginsWriting()
        return isWriting
      }
      settle(finished, hasWritten: isWriting)
    }
    let finishesFirst = work.pipeline.configuration.isolation.isInProcess
    var begun = 0
    while true {
      if let input = next(after: begun, isIdle: last == nil) {
        if finishesFirst { finishLast() }
        let finish = work.begin(input, cancellation, meanwhile: finishLast)
        finishLast()
        (last, begun) = (finish, begun + 1)
      } else if last == nil {
        return settle()
      } else {
        finishLast()
      }
    }
  }

  private func beginsWriting() -> Bool {
    state.withLock { state in
      if isStopped { return false }
      state.writing += 1
      return true
    }
  }

  /// The next input for a lane; nil if there is none for now. An idle lane ends then.
  private func next(after begun: Int, isIdle: Bool) -> StaleInput? {
    // Pictures that come while a folder is watched do not wait for all others.
    let givesWay = begun >= Self.turn && pool.waiting > 0
    return state.withLock { state in
      if state.finished.count < window, !givesWay, !isStopped, let input = state.inputs.popFirst() { return input }
      if isIdle { state.lanes -= 1 }
      return nil
    }
  }
}
