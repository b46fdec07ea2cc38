import Synchronization
import ThumbnailCore

/// What is done: whoever calls changes the list or the view, and no more; one worker asks the schedule what follows and
/// carries it out, a step at a time, in the order of the decisions.
///
/// To begin a piece of work wakes threads, to cancel one takes the locks of everything that it waits in. None of that
/// happens on the thread that scrolls, nor with the lock held.
extension Prefetcher {
  /// What is guarded: the schedule, what it is about, and what is still to be done.
  struct State: Sendable {
    var schedule: PrefetchSchedule
    /// Nil for cells without a picture.
    var items: [ImageSource?] = []
    var prefetchTasks: [PrefetchSchedule.WorkID: PrefetchTask] = [:]
    /// What the worker does next, in this order.
    fileprivate var agenda: [Step] = []
    /// Whether something has changed that the schedule was not asked about.
    fileprivate var isStale = false
    fileprivate var timer: (task: Task<Void, Never>, deadline: ContinuousClock.Instant)?
    fileprivate var settlingWaiters: [Promise<Void, Never>] = []
    /// What `itemsWanted` was told last, and for how many items.
    fileprivate var lastWanted: (wanted: Int, count: Int)?

    init(schedule: PrefetchSchedule) { self.schedule = schedule }

    /// Work that the schedule has dropped is to be cancelled.
    mutating func drop(_ works: [PrefetchSchedule.Work]) {
      for work in works {
        guard let prefetchTask = prefetchTasks.removeValue(forKey: work.id) else { continue }
        agenda += [.cancel(prefetchTask), .tell(.cancelled(index: work.index, prefetchTask.source))]
      }
    }

    fileprivate mutating func move(to viewports: [Viewport]) {
      for viewport in viewports { schedule.move(to: viewport) }
      if !viewports.isEmpty { isStale = true }
    }
  }

  /// A piece of work, from the decision to begin it to its end.
  final class PrefetchTask: Sendable {
    let id: PrefetchSchedule.WorkID
    /// Where the item was in the list when it was begun.
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

  /// One thing to do.
  fileprivate enum Step: Sendable {
    case begin(PrefetchTask)
    case cancel(PrefetchTask)
    case prioritise(PrefetchTask, Priority)
    case tell(PrefetcherEvent)
    case want(Int)
    case settle(Promise<Void, Never>)
  }

  // MARK: What happens

  /// Changes something, as of the last viewport told, and has the worker see to what follows.
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
        // It was dropped, too late to stop it.
        if let response, state.items.indices.contains(prefetchTask.index),
          state.items[prefetchTask.index] == prefetchTask.source
        {
          state.agenda.append(.tell(.ready(index: prefetchTask.index, prefetchTask.source, response)))
        }
        return
      }
      let duration = response.flatMap { $0.origin == .source ? $0.duration : nil }
      let index = state.schedule.finish(
        prefetchTask.id, isThere: response != nil, bytes: response?.downloadedBytes ?? 0, duration: duration)
      guard let index else { return }
      switch result {
      case .success(let response): state.agenda.append(.tell(.ready(index: index, prefetchTask.source, response)))
      case .failure(let error): state.agenda.append(.tell(.failed(index: index, prefetchTask.source, error)))
      }
    }
  }

  /// What resumes when everything is settled; nil when it is.
  func settlingWaiter() -> Promise<Void, Never>? {
    state.withLock { state in
      state.move(to: inbox.takeAll())
      if !state.isStale, state.schedule.isIdle { return nil }
      let shot = Promise<Void, Never>()
      state.settlingWaiters.append(shot)
      return shot
    }
  }

  /// Forgets a waiter whose task was cancelled.
  func removeSettlingWaiter(_ shot: Promise<Void, Never>) {
    state.withLock { state in state.settlingWaiters.removeAll { $0 === shot } }
  }

  /// How many wait for everything to be settled.
  var settlingWaiterCount: Int { state.withLock { $0.settlingWaiters.count } }

  /// Cancels all that runs. To be called when nothing works any more.
  func abandon() {
    state.withLock { state in
      state.timer?.task.cancel()
      for prefetchTask in state.prefetchTasks.values { prefetchTask.cancel() }
      for case .cancel(let prefetchTask) in state.agenda { prefetchTask.cancel() }
    }
  }

  // MARK: The worker

  /// Starts the worker, which sees to every change until the prefetcher is dropped.
  static func startWorker(of prefetcher: Prefetcher, at signals: AsyncStream<Void>) {
    Task { [weak prefetcher] in
      for await _ in signals { prefetcher?.work() }
    }
  }

  /// Asks the schedule what follows from the changes so far, and carries it out. Called by the worker alone, so that
  /// nothing overtakes what was decided before it.
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
      guard let source = items[index] else { return .atHand }
      guard let thumbnail = pipeline.cachedThumbnail(for: CacheKey(source: source.key, variant: variant)) else {
        return .missing
      }
      found.append((index, source, thumbnail))
      return .atHand
    } received: { [pipeline, variant] index in
      guard let source = items[index] else { return 0 }
      if let part = pipeline.receivedPart(of: source) { return part }
      // Its job has ended, and the task that waits for it has not been told yet.
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
      state.agenda += [.tell(.started(index: work.index, source, work.priority)), .begin(prefetchTask)]
    }
    for (index, source, thumbnail) in found {
      let response = ThumbnailResponse(thumbnail: thumbnail, origin: .memory, duration: .zero)
      state.agenda.append(.tell(.ready(index: index, source, response)))
    }
    if changes.hasSettled { state.agenda.append(.tell(.settled)) }
    if let wanted = itemsWanted(in: &state, at: now) { state.agenda.append(.want(wanted)) }
    if state.schedule.isIdle {
      state.agenda += state.settlingWaiters.map(Step.settle)
      state.settlingWaiters = []
    }
    setTimer(changes.wakeTime, in: &state)
  }

  /// Asks the schedule again when it wants to be asked. A timer that rings too early does no harm.
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

  /// How many items the list should have, if that is news.
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
    case .settle(let shot): shot.resume(with: .success(()))
    }
  }

  private func begin(_ prefetchTask: PrefetchTask) {
    let priority = prefetchTask.priority.current
    var asked = ThumbnailRequest(prefetchTask.source, variant: variant, priority: priority)
    // Without a disk cache, what is fetched ahead has no other place.
    asked.keepsInMemory =
      priority == .visible || !options.diskOnly || pipeline.configuration.diskCacheLimit.bytes == 0
    let request = asked
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
