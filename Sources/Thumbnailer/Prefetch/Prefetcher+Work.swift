import Synchronization
import ThumbnailCore

/// Carrying out the schedule: callers only change the list or the viewport; one worker gets the changes from the
/// schedule and carries them out one by one, in the order of the decisions.
///
/// Starting a request wakes threads, cancelling one takes the locks of all queues that it waits in. Neither happens on
/// the thread that scrolls, nor with the lock held.
extension Prefetcher {
  /// The state under the lock: the schedule, the items, and the pending steps.
  struct State: Sendable {
    var schedule: PrefetchSchedule
    /// Nil for cells without an image.
    var items: [ImageSource?] = []
    var prefetchTasks: [PrefetchSchedule.WorkID: PrefetchTask] = [:]
    /// The worker's pending steps, in order.
    fileprivate var agenda: [Step] = []
    /// Whether there are changes since the schedule's last update.
    fileprivate var isStale = false
    fileprivate var timer: (task: Task<Void, Never>, deadline: ContinuousClock.Instant)?
    /// The last value sent to `itemsWanted`, and the number of items at that time.
    fileprivate var lastWanted: (wanted: Int, count: Int)?

    init(schedule: PrefetchSchedule) { self.schedule = schedule }

    /// Queues the cancellation of requests that the schedule has dropped.
    mutating func drop(_ works: [PrefetchSchedule.Work]) {
      for work in works {
        guard let prefetchTask = prefetchTasks.removeValue(forKey: work.id) else { continue }
        agenda += [.cancel(prefetchTask), .tell(.cancelled(index: work.index, source: prefetchTask.source))]
      }
    }

    fileprivate mutating func move(to viewports: [Viewport]) {
      for viewport in viewports { schedule.move(to: viewport) }
      if !viewports.isEmpty { isStale = true }
    }
  }

  /// One request, from the decision to start it to its end.
  final class PrefetchTask: Sendable {
    let id: PrefetchSchedule.WorkID
    /// The item's index when the request was started.
    let index: Int
    let source: ImageSource
    let priority: PriorityControl
    private let task = Mutex<Task<Void, Never>?>(nil)

    fileprivate init(_ work: PrefetchSchedule.Work, for source: ImageSource) {
      (id, index, self.source, priority) = (work.id, work.index, source, PriorityControl(work.priority))
    }

    fileprivate func begin(_ operation: @escaping @Sendable () async -> Void) {
      task.withLock { $0 = Task(operation: operation) }
    }

    fileprivate func cancel() { task.withLock(\.self)?.cancel() }
  }

  /// One pending step of the worker.
  fileprivate enum Step: Sendable {
    case begin(PrefetchTask)
    case cancel(PrefetchTask)
    case prioritise(PrefetchTask, Priority)
    case tell(PrefetcherEvent)
    case want(Int)
  }

  // MARK: Changes

  /// Changes the state, after applying the latest viewports, and signals the worker.
  func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      state.move(to: inbox.takeAll())
      body(&state)
      state.isStale = true
    }
    workSignal.yield()
  }

  private func finish(_ prefetchTask: PrefetchTask, _ result: Result<ThumbnailResponse, ThumbnailError>) {
    change { state in
      let response = try? result.get()
      guard state.prefetchTasks.removeValue(forKey: prefetchTask.id) != nil else {
        // Dropped too late: the request had finished already.
        if let response, state.items.indices.contains(prefetchTask.index),
          state.items[prefetchTask.index] == prefetchTask.source
        {
          state.agenda.append(.tell(.ready(index: prefetchTask.index, source: prefetchTask.source, response: response)))
        }
        return
      }
      let duration = response.flatMap { $0.origin == .source ? $0.duration : nil }
      let index = state.schedule.finish(
        prefetchTask.id, bytes: response?.downloadedBytes ?? 0, duration: duration)
      guard let index else { return }
      let source = prefetchTask.source
      switch result {
      case .success(let response):
        state.agenda.append(.tell(.ready(index: index, source: source, response: response)))
      case .failure(let error): state.agenda.append(.tell(.failed(index: index, source: source, error: error)))
      }
    }
  }

  /// Whether everything in the window is ready or has failed.
  var isSettled: Bool { state.withLock { inbox.latest == nil && !$0.isStale && $0.schedule.isIdle } }

  /// Cancels all requests. To be called when the worker has ended.
  func abandon() {
    state.withLock { state in
      state.timer?.task.cancel()
      for prefetchTask in state.prefetchTasks.values { prefetchTask.cancel() }
      for case .cancel(let prefetchTask) in state.agenda { prefetchTask.cancel() }
    }
  }

  // MARK: The worker

  /// Starts the worker, which handles all changes until the prefetcher is deallocated.
  static func startWorker(of prefetcher: Prefetcher, at signals: AsyncStream<Void>) {
    Task { [weak prefetcher] in
      for await _ in signals { prefetcher?.work() }
    }
  }

  /// Updates the schedule after changes, and carries out its decisions. Only called by the worker, so that decisions
  /// are carried out in order.
  private func work() {
    let agenda = state.withLock { state in
      state.move(to: inbox.takeAll())
      plan(in: &state)
      defer { state.agenda = [] }
      return state.agenda
    }
    for step in agenda { carryOut(step) }
  }

  private func plan(in state: inout State) {
    let now = ContinuousClock.now
    let items = state.items
    var found: [(Int, ImageSource, Thumbnail)] = []
    let changes = state.schedule.update(at: now) { [pipeline, variant] index in
      guard let source = items[index] else { return false }
      guard let thumbnail = pipeline.cachedThumbnail(for: CacheKey(source: source.key, variant: variant)) else {
        return true
      }
      found.append((index, source, thumbnail))
      return false
    } received: { [pipeline, variant] index in
      guard let source = items[index] else { return 0 }
      if let part = pipeline.receivedPart(of: source) { return part }
      // The job has ended, but the task that waits for it has not resumed yet.
      return pipeline.cachedThumbnail(for: CacheKey(source: source.key, variant: variant)) == nil ? 0 : 1
    }
    state.isStale = false
    state.drop(changes.dropped)
    for work in changes.reprioritised {
      if let prefetchTask = state.prefetchTasks[work.id] {
        state.agenda.append(.prioritise(prefetchTask, work.priority))
      }
    }
    for work in changes.begun {
      guard let source = items[work.index] else { continue }
      let prefetchTask = PrefetchTask(work, for: source)
      state.prefetchTasks[work.id] = prefetchTask
      state.agenda += [
        .tell(.started(index: work.index, source: source, priority: work.priority)), .begin(prefetchTask),
      ]
    }
    for (index, source, thumbnail) in found {
      let response = ThumbnailResponse(thumbnail: thumbnail, origin: .memory, duration: .zero)
      state.agenda.append(.tell(.ready(index: index, source: source, response: response)))
    }
    if changes.hasSettled { state.agenda.append(.tell(.settled)) }
    if let wanted = itemsWanted(in: &state, at: now) { state.agenda.append(.want(wanted)) }
    setTimer(changes.wakeTime, in: &state)
  }

  /// Sets a timer for the schedule's next update. It is harmless if it fires early.
  private func setTimer(_ wakeTime: ContinuousClock.Instant?, in state: inout State) {
    guard let wakeTime else { return }
    if let timer = state.timer {
      if timer.deadline <= wakeTime { return }
      timer.task.cancel()
    }
    let task = Task { [weak self] in
      do { try await Task.sleep(until: wakeTime, clock: .continuous) } catch { return }
      self?.change { state in state.timer = nil }
    }
    state.timer = (task, wakeTime)
  }

  /// How many items the list should have; nil if that was sent already.
  private func itemsWanted(in state: inout State, at time: ContinuousClock.Instant) -> Int? {
    let count = state.items.count
    let wanted = state.schedule.itemsWanted(at: time)
    guard wanted > count else {
      state.lastWanted = nil
      return nil
    }
    if let last = state.lastWanted, last.count == count, last.wanted >= wanted { return nil }
    state.lastWanted = (wanted, count)
    return wanted
  }

  private func carryOut(_ step: Step) {
    switch step {
    case .begin(let prefetchTask): begin(prefetchTask)
    case .cancel(let prefetchTask): prefetchTask.cancel()
    case .prioritise(let prefetchTask, let priority): prefetchTask.priority.set(priority)
    case .tell(let event): hub.send(event)
    case .want(let count): itemsWantedContinuation.yield(count)
    }
  }

  private func begin(_ prefetchTask: PrefetchTask) {
    let priority = prefetchTask.priority.current
    let request = ThumbnailRequest(prefetchTask.source, variant: variant, priority: priority)
    prefetchTask.begin { [weak self, pipeline] in
      do throws(ThumbnailError) {
        let response = try await pipeline.response(for: request, following: prefetchTask.priority)
        self?.finish(prefetchTask, .success(response))
      } catch {
        self?.finish(prefetchTask, .failure(error))
      }
    }
  }
}
