import ThumbnailCore

/// What a prefetcher does next: which items it begins, drops, and looks at more urgently, as the view moves and work
/// ends. A pure value without tasks, locks or clocks; its owner carries out the changes that it returns.
///
/// Its rules, in their order:
/// 1. What is not in the window any more is dropped, unless it is nearly done.
/// 2. Cells in the focus of the window come first, in the order the scroll came to them.
/// 3. While one of them is missing, nothing else is begun: they have the link to themselves. One that takes much longer
///    than a picture should does not count: the link is not what it waits for.
/// 4. While half of them are missing, what runs for other cells is dropped, too, unless its body is complete: so is a
///    view complete soonest to which a jump or a fling led.
/// 5. Then come the cells ahead, nearest first, then those behind, within the byte budget.
///
/// A view that jumps on and on, as under a scroll bar that is dragged, gets nothing begun before it stops.
struct PrefetchSchedule: Sendable {
  /// Names one piece of work from its start to its end.
  typealias WorkID = UInt64

  /// What is known of an item before work for it begins.
  enum Look {
    /// There is nothing to fetch: the thumbnail is in memory, or the cell shows no picture.
    case atHand
    /// It has to be fetched.
    case missing
  }

  /// One piece of work.
  struct Work: Sendable, Equatable {
    let id: WorkID
    let index: Int
    var priority: Priority
  }

  /// What the owner shall do.
  struct Changes: Sendable {
    /// Work to begin, in this order.
    var begun: [Work] = []
    /// Work to drop.
    var dropped: [Work] = []
    /// Work whose priority changed.
    var reprioritised: [Work] = []
    /// When to ask again, if nothing happens before.
    var wakeTime: ContinuousClock.Instant?
    /// Whether this brought the end of everything that the window asks for.
    var hasSettled = false
  }

  private struct Run {
    var work: Work
    let start: ContinuousClock.Instant
    /// Its thumbnail goes to the disk cache alone.
    let isDiskOnly: Bool
    /// Out of the window, but nearly done.
    var lingers = false
  }

  /// How much may run at once.
  struct Limits: Sendable {
    /// In all.
    var running: Int
    /// For cells out of the focus; less than `running`.
    var prefetches: Int
  }

  /// The most items that one update looks at in the memory cache, so that it stays short.
  private static let looksPerUpdate = 64
  /// What a photo source takes to answer with a page, in seconds, and more.
  private static let pageSeconds = 2.0
  /// The part of a body from which on a piece of work is nearly done.
  private static let nearlyDone = 0.75

  /// Where the items are.
  private(set) var layout: GridLayout
  private(set) var window = PrefetchWindow()
  private(set) var motion = ScrollMotion()
  /// What pictures take, as measured so far.
  var pace = FetchPace()
  /// Whether nothing is begun for cells out of view.
  private(set) var isPaused = false
  private let options: Prefetcher.Options
  private let limits: Limits
  private var runs: [Int: Run] = [:]
  /// The items of the window that are there or have failed, with the bytes that were downloaded for them.
  private var settled: [Int: Int] = [:]
  private var lastID: WorkID = 0
  private var isSettled = false
  /// Whether the view has jumped since the last update.
  private var hasJumped = false

  init(layout: GridLayout, options: Prefetcher.Options, limits: Limits) {
    (self.layout, self.options, self.limits) = (layout, options, limits)
  }

  /// The number of pieces of work that run.
  var runningCount: Int { runs.count }
  /// The number of items that something is remembered of.
  var rememberedItems: Int { settled.count }
  /// Whether nothing is left to do for the window.
  var isIdle: Bool { isSettled || motion.viewport == nil }

  // MARK: What happens

  /// The view is here now. May be told several times between two updates.
  mutating func move(to viewport: Viewport) {
    motion.move(to: viewport)
    hasJumped = hasJumped || motion.hasJumped
  }

  /// A piece of work has ended, well or badly. Returns where its item is; nil when it was dropped before.
  ///
  /// - Parameters:
  ///   - isThere: Whether there is a thumbnail.
  ///   - bytes: What was downloaded for it.
  ///   - duration: How long a download took; nil where there was none.
  mutating func finish(_ id: WorkID, isThere: Bool = true, bytes: Int, duration: Duration?) -> Int? {
    guard let (index, run) = runs.first(where: { $0.value.work.id == id }) else { return nil }
    runs[index] = nil
    // What went to the disk alone and is in view by now has to be brought into memory.
    let isHalfDone = isThere && run.isDiskOnly && window.visible.contains(index)
    if !run.lingers, !isHalfDone { settled[index] = bytes }
    if let duration { pace.record(duration, bytes: bytes) }
    return index
  }

  /// Drops all work and forgets where the view is.
  mutating func stop() -> [Work] {
    defer {
      (runs, settled) = ([:], [:])
      (window, motion) = (PrefetchWindow(), ScrollMotion())
    }
    return runs.values.map(\.work)
  }

  /// Begins nothing for cells out of view from now on, or does so again.
  mutating func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    isSettled = false
  }

  /// Changes where the items are.
  mutating func changeLayout(_ change: (inout GridLayout) -> Void) {
    change(&layout)
    isSettled = false
  }

  /// The list is another one. Forgets the items that `isSame` does not hold for, and returns the work that was for them.
  mutating func keep(where isSame: (Int) -> Bool) -> [Work] {
    settled = settled.filter { isSame($0.key) }
    let dropped = runs.values.filter { !isSame($0.work.index) }
    for run in dropped { runs[run.work.index] = nil }
    return dropped.map(\.work)
  }

  /// How many items the list should have for the view not to reach its end soon, at the speed it goes.
  func itemsWanted(at time: ContinuousClock.Instant) -> Int {
    guard let viewport = motion.viewport else { return 0 }
    let pages = options.screensOfItemsAhead * viewport.height + max(0, motion.travel(in: Self.pageSeconds, from: time))
    return layout.itemCount(fillingDownTo: viewport.bottom + pages)
  }

  /// Another picture stands at an index. Returns the work that was for the old one.
  mutating func replace(_ index: Int) -> Work? {
    settled[index] = nil
    isSettled = false
    return runs.removeValue(forKey: index)?.work
  }

  /// An item was taken out of the list; those behind it move up. Returns the work that was for it.
  mutating func remove(_ index: Int) -> Work? {
    let dropped = replace(index)
    runs = Dictionary(
      uniqueKeysWithValues: runs.map { key, run in
        guard key > index else { return (key, run) }
        let work = Work(id: run.work.id, index: key - 1, priority: run.work.priority)
        return (key - 1, Run(work: work, start: run.start, isDiskOnly: run.isDiskOnly, lingers: run.lingers))
      })
    settled = Dictionary(uniqueKeysWithValues: settled.map { key, bytes in (key > index ? key - 1 : key, bytes) })
    return dropped
  }

  // MARK: What follows

  /// Brings the work into line with the window as it is at `time`.
  ///
  /// - Parameters:
  ///   - look: What is known of an item that is about to be begun; asked once while it is in the window.
  ///   - received: The part of an item's body that has come, 1 when it is complete; asked of work that may be dropped.
  mutating func update(
    at time: ContinuousClock.Instant, look: (Int) -> Look, received: (Int) -> Double
  ) -> Changes {
    var changes = Changes()
    guard let viewport = motion.viewport else { return changes }
    let next = PrefetchWindow(
      layout: layout, viewport: viewport, motion: motion, at: time, pace: pace, parallel: limits.running,
      options: options)
    if next != window { enter(next, received: received, &changes) }
    hasJumped = motion.hasJumped
    if let holdTime = motion.holdTime, holdTime > time {
      (isSettled, changes.wakeTime) = (false, holdTime)
      return changes
    }
    var looks = Self.looksPerUpdate
    var missing = beginFocus(at: time, look: look, looks: &looks, &changes)
    if missing * 2 >= max(1, window.focus.count), dropOthers(received: received, &changes) {
      missing = beginFocus(at: time, look: look, looks: &looks, &changes)
    }
    let isDone = missing == 0 && beginRest(at: time, look: look, looks: &looks, &changes)
    changes.wakeTime = wakeTime(after: time, isDone: isDone, hasLooksLeft: looks > 0)
    let wasSettled = isSettled
    isSettled = isDone && !runs.values.contains { !$0.lingers }
    changes.hasSettled = isSettled && !wasSettled
    return changes
  }

  /// Takes up another window: drops what has left it, and tells what came into view, or went out of it, so.
  private mutating func enter(_ next: PrefetchWindow, received: (Int) -> Double, _ changes: inout Changes) {
    if next.kept != window.kept {
      settled = settled.filter { next.kept.contains($0.key) }
    }
    if options.diskOnly {
      for index in next.visible where !window.visible.contains(index) { settled[index] = nil }
    }
    window = next
    isSettled = false
    for (index, run) in runs {
      if !next.kept.contains(index) {
        let part = received(index)
        let isNearlyDone = part >= 1 || part >= Self.nearlyDone && !hasJumped
        guard !isNearlyDone else {
          runs[index]?.lingers = true
          continue
        }
        runs[index] = nil
        changes.dropped.append(run.work)
        continue
      }
      let priority: Priority = next.visible.contains(index) ? .visible : .prefetch
      runs[index]?.lingers = false
      if run.work.priority != priority {
        runs[index]?.work.priority = priority
        changes.reprioritised.append(Work(id: run.work.id, index: index, priority: priority))
      }
    }
  }

  /// Begins what is missing in the focus, and returns how many items are.
  private mutating func beginFocus(
    at time: ContinuousClock.Instant, look: (Int) -> Look, looks: inout Int, _ changes: inout Changes
  ) -> Int {
    var missing = 0
    var running = runningCount(at: time)
    for index in window.focusInOrder where settled[index] == nil {
      if let run = runs[index] {
        if !isSlow(run, at: time) { missing += 1 }
        continue
      }
      let isVisible = window.visible.contains(index)
      if isPaused, !isVisible { continue }
      if looks > 0, running < limits.running, runs.count < 4 * limits.running {
        looks -= 1
        guard look(index) == .missing else {
          settled[index] = 0
          continue
        }
        begin(index, at: isVisible ? .visible : .prefetch, time, &changes)
        running += 1
      }
      missing += 1
    }
    return missing
  }

  /// Drops what runs for cells out of the focus and is not done but for its decode. True when there was some.
  private mutating func dropOthers(received: (Int) -> Double, _ changes: inout Changes) -> Bool {
    let others = runs.filter { index, _ in !window.focus.contains(index) && !window.visible.contains(index) }
    var hasDropped = false
    for (index, run) in others where received(index) < 1 {
      runs[index] = nil
      changes.dropped.append(run.work)
      hasDropped = true
    }
    return hasDropped
  }

  /// Begins what is missing ahead and behind. True when there is nothing more to begin.
  private mutating func beginRest(
    at time: ContinuousClock.Instant, look: (Int) -> Look, looks: inout Int, _ changes: inout Changes
  ) -> Bool {
    if isPaused || options.byteBudget.bytes == 0 { return true }
    var budget = Double(options.byteBudget.bytes)
    var running = runningCount(at: time)
    for index in window.restInOrder.joined() {
      if let bytes = settled[index] {
        budget -= Double(bytes)
        continue
      }
      if runs[index] != nil {
        budget -= pace.bytesPerPicture
        continue
      }
      if looks == 0 || running >= limits.prefetches || runs.count >= 4 * limits.running { return false }
      looks -= 1
      guard look(index) == .missing else {
        settled[index] = 0
        continue
      }
      // Whatever pictures take, one may be begun.
      if budget < pace.bytesPerPicture, budget < Double(options.byteBudget.bytes) { return true }
      budget -= pace.bytesPerPicture
      begin(index, at: window.visible.contains(index) ? .visible : .prefetch, time, &changes)
      running += 1
    }
    return true
  }

  private mutating func begin(
    _ index: Int, at priority: Priority, _ time: ContinuousClock.Instant, _ changes: inout Changes
  ) {
    lastID += 1
    let work = Work(id: lastID, index: index, priority: priority)
    runs[index] = Run(work: work, start: time, isDiskOnly: options.diskOnly && priority == .prefetch)
    changes.begun.append(work)
  }

  // MARK: Time

  private func isSlow(_ run: Run, at time: ContinuousClock.Instant) -> Bool { time - run.start >= pace.patience }

  /// How many pieces of work take part of the link.
  private func runningCount(at time: ContinuousClock.Instant) -> Int {
    runs.values.reduce(0) { $0 + (isSlow($1, at: time) ? 0 : 1) }
  }

  /// When something may follow from nothing but the time: the view comes to rest, work turns out slow, or there is more
  /// to look at.
  private func wakeTime(
    after time: ContinuousClock.Instant, isDone: Bool, hasLooksLeft: Bool
  ) -> ContinuousClock.Instant? {
    if !hasLooksLeft { return time }
    var wakeTime = motion.restTime.flatMap { $0 > time ? $0 : nil }
    guard !isDone else { return wakeTime }
    for run in runs.values {
      let slow = run.start + pace.patience
      if slow > time { wakeTime = min(wakeTime ?? slow, slow) }
    }
    return wakeTime
  }
}

extension PrefetchSchedule.Limits {
  /// What a prefetcher's options ask for, or what suits the pipeline: while what is downloaded is decoded, the slots that
  /// it leaves shall not be idle.
  init(_ options: Prefetcher.Options, _ pipeline: ThumbnailPipeline.Configuration) {
    let slots = min(pipeline.downloads, pipeline.downloadsPerHost)
    running = max(1, options.maximumRunning ?? slots + pipeline.jobs)
    prefetches = max(1, options.maximumPrefetches ?? slots - 2)
  }
}
