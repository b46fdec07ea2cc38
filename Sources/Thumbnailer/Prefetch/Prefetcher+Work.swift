import Synchronization

/// Carries out what the schedule decides. The lock is held while tasks are made and put down, and never while one is
/// cancelled, woken or told something.
extension Prefetcher {
  /// What is guarded: the schedule, what it is about, and the tasks that carry it out.
  struct State: Sendable {
    var schedule: PrefetchSchedule
    /// Nil for cells without a picture.
    var items: [ImageSource?] = []
    var errands: [PrefetchSchedule.WorkID: Errand] = [:]
    var timer: (task: Task<Void, Never>, deadline: ContinuousClock.Instant)?
    var settlingWaiters: [OneShot<Void, Never>] = []
    /// What `itemsWanted` was told last, and for how many items.
    var lastWanted: (wanted: Int, count: Int)?

    init(schedule: PrefetchSchedule) { self.schedule = schedule }
  }

  /// A piece of work under way.
  struct Errand: Sendable {
    let source: ImageSource
    let control: PriorityControl
    var priority: Priority
    let task: Task<Void, Never>
  }

  /// What is done after unlocking.
  struct Effects: Sendable {
    fileprivate var cancelled: [Task<Void, Never>] = []
    fileprivate var reprioritised: [PrefetchSchedule.WorkID] = []
    fileprivate var events: [PrefetcherEvent] = []
    fileprivate var wanted: Int?
    fileprivate var settled: [OneShot<Void, Never>] = []

    /// Work that the schedule has dropped is to be cancelled.
    mutating func drop(_ works: [PrefetchSchedule.Work], of state: inout State) {
      for work in works {
        guard let errand = state.errands.removeValue(forKey: work.id) else { continue }
        cancelled.append(errand.task)
        events.append(.cancelled(index: work.index, errand.source))
      }
    }
  }

  /// Changes something, and brings the work into line with it.
  func change(_ body: (inout State, inout Effects) -> Void) {
    var effects = Effects()
    state.withLock { state in
      body(&state, &effects)
      follow(in: &state, &effects)
    }
    carryOut(effects)
  }

  /// Asks the schedule what follows from the state as it is now.
  private func follow(in state: inout State, _ effects: inout Effects) {
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
    } received: { [pipeline] index in
      items[index].flatMap { pipeline.receivedPart(of: $0) } ?? 0
    }
    effects.drop(changes.dropped, of: &state)
    for (index, source, thumbnail) in found {
      let response = ThumbnailResponse(thumbnail: thumbnail, origin: .memory, duration: .zero)
      effects.events.append(.ready(index: index, source, response))
    }
    for work in changes.reprioritised {
      state.errands[work.id]?.priority = work.priority
      effects.reprioritised.append(work.id)
    }
    for work in changes.begun {
      guard let source = items[work.index] else { continue }
      state.errands[work.id] = errand(work, for: source)
      effects.events.append(.started(index: work.index, source, work.priority))
    }
    if changes.hasSettled { effects.events.append(.settled) }
    if state.schedule.isIdle { swap(&effects.settled, &state.settlingWaiters) }
    setTimer(changes.wakeTime, in: &state)
    effects.wanted = itemsWanted(in: &state, at: now)
  }

  /// Starts the task of a piece of work. It takes itself out, which waits for the lock until it is in.
  private func errand(_ work: PrefetchSchedule.Work, for source: ImageSource) -> Errand {
    let control = PriorityControl(work.priority)
    let request = ThumbnailRequest(source, variant: variant, priority: work.priority)
    let task = Task { [weak self, pipeline] in
      do throws(ThumbnailError) {
        let response = try await pipeline.response(for: request, following: control)
        self?.finish(work.id, .success(response))
      } catch {
        self?.finish(work.id, .failure(error))
      }
    }
    return Errand(source: source, control: control, priority: work.priority, task: task)
  }

  private func finish(_ id: PrefetchSchedule.WorkID, _ result: Result<ThumbnailResponse, ThumbnailError>) {
    change { state, effects in
      guard let errand = state.errands.removeValue(forKey: id) else { return }
      let response = try? result.get()
      let duration = response.flatMap { $0.origin == .source ? $0.duration : nil }
      let index = state.schedule.finish(id, bytes: response?.downloadedBytes ?? 0, duration: duration)
      guard let index else { return }
      switch result {
      case .success(let response): effects.events.append(.ready(index: index, errand.source, response))
      case .failure(let error): effects.events.append(.failed(index: index, errand.source, error))
      }
    }
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
      self?.change { state, _ in state.timer = nil }
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

  private func carryOut(_ effects: Effects) {
    for task in effects.cancelled { task.cancel() }
    for id in effects.reprioritised { settlePriority(of: id) }
    for event in effects.events { hub.send(event) }
    if let wanted = effects.wanted { itemsWantedContinuation.yield(wanted) }
    for shot in effects.settled { shot.resume(with: .success(())) }
  }

  /// Gives a piece of work the priority that the schedule wants for it, whoever changes it meanwhile.
  private func settlePriority(of id: PrefetchSchedule.WorkID) {
    while true {
      let errand = state.withLock { $0.errands[id] }
      guard let errand, errand.control.current != errand.priority else { return }
      errand.control.set(errand.priority)
    }
  }
}
