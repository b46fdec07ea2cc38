import ThumbnailCore

/// Decides which requests a prefetcher starts, cancels and reprioritises when the viewport moves and requests finish. A
/// pure value without tasks, locks or clocks; its owner carries out the changes that it returns.
///
/// Its rules, in order:
/// 1. Requests for items that have left the window are cancelled, unless they are nearly done.
/// 2. Cells in the focus of the window come first, in the order in which the scroll reaches them.
/// 3. While one of them is missing, nothing else is started, so that they have the link to themselves. A cell that
///    takes much longer than usual does not count, because its delay is not caused by the link.
/// 4. While half of them are missing, requests for other cells are cancelled too, unless their body is complete. So the
///    view after a jump or a fling is complete as soon as possible.
/// 5. Then come the cells ahead, nearest first, then those behind, within the byte budget.
///
/// While the viewport jumps repeatedly, as when a scroll bar is dragged, nothing is started until it stops.
struct PrefetchSchedule: Sendable {
  /// Identifies a request from its start to its end.
  typealias WorkID = UInt64

  /// One request for an item.
  struct Work: Sendable {
    let id: WorkID
    fileprivate(set) var index: Int
    fileprivate(set) var priority: Priority
    fileprivate let start: ContinuousClock.Instant
    /// Outside of the window, but nearly done.
    fileprivate var lingers = false
  }

  /// The changes for the owner to carry out.
  struct Changes: Sendable {
    /// Requests to start, in this order.
    var begun: [Work] = []
    /// Requests to cancel.
    var dropped: [Work] = []
    /// Requests whose priority changed.
    var reprioritised: [Work] = []
    /// When to call `update` again, if nothing happens before.
    var wakeTime: ContinuousClock.Instant?
    /// Whether this update completed everything in the window.
    var hasSettled = false
  }

  /// The limits of concurrent requests.
  struct Limits: Sendable {
    /// For all cells.
    var running: Int
    /// For cells outside of the focus; less than `running`.
    var prefetches: Int
  }

  /// The most items that one update looks up in the memory cache, to keep it short.
  private static let looksPerUpdate = 64
  /// The time a photo source takes to return a page, in seconds, with a reserve.
  private static let pageSeconds = 2.0
  /// The received part of a body from which on a request counts as nearly done.
  private static let nearlyDone = 0.75

  /// The layout of the items.
  private(set) var layout: GridLayout
  private(set) var window = PrefetchWindow()
  private(set) var motion = ScrollMotion()
  /// The measured cost of images so far.
  var pace = FetchPace()
  /// Whether prefetching of cells out of view is paused.
  private(set) var isPaused = false
  private let options: Prefetcher.Options
  private let limits: Limits
  /// The running requests by their items.
  private var runs: [Int: Work] = [:]
  /// The items of the window that are ready or have failed, with the bytes downloaded for them.
  private var settled: [Int: Int] = [:]
  private var lastID: WorkID = 0
  private var isSettled = false
  /// Whether the viewport has jumped since the last update.
  private var hasJumped = false

  init(layout: GridLayout, options: Prefetcher.Options, limits: Limits) {
    (self.layout, self.options, self.limits) = (layout, options, limits)
  }

  /// The number of running requests.
  var runningCount: Int { runs.count }
  /// The number of items with stored state.
  var rememberedItems: Int { settled.count }
  /// Whether nothing is left to do in the window.
  var isIdle: Bool { isSettled || motion.viewport == nil }

  // MARK: Inputs

  /// Sets the current viewport. May be called several times between two updates.
  mutating func move(to viewport: Viewport) {
    motion.move(to: viewport)
    hasJumped = hasJumped || motion.hasJumped
  }

  /// A request has finished, successfully or not. Returns its item's index; nil if it was cancelled before.
  ///
  /// - Parameters:
  ///   - bytes: The bytes downloaded for it.
  ///   - duration: The time of the download; nil if there was none.
  mutating func finish(_ id: WorkID, bytes: Int, duration: Duration?) -> Int? {
    guard let (index, run) = runs.first(where: { $0.value.id == id }) else { return nil }
    runs[index] = nil
    if !run.lingers { settled[index] = bytes }
    if let duration { pace.record(duration, bytes: bytes) }
    return index
  }

  /// Cancels all requests and clears the viewport.
  mutating func stop() -> [Work] {
    defer {
      (runs, settled) = ([:], [:])
      (window, motion) = (PrefetchWindow(), ScrollMotion())
    }
    return Array(runs.values)
  }

  /// Pauses or resumes prefetching of cells out of view.
  mutating func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    isSettled = false
  }

  /// Changes the layout of the items.
  mutating func changeLayout(_ change: (inout GridLayout) -> Void) {
    change(&layout)
    isSettled = false
  }

  /// The list of items was replaced. Drops the state of items for which `isSame` is false, and returns their requests.
  mutating func keep(where isSame: (Int) -> Bool) -> [Work] {
    settled = settled.filter { isSame($0.key) }
    let dropped = runs.values.filter { !isSame($0.index) }
    for run in dropped { runs[run.index] = nil }
    return dropped
  }

  /// The number of items that the list should have so that the viewport does not soon reach its end at its current
  /// speed.
  func itemsWanted(at time: ContinuousClock.Instant) -> Int {
    guard let viewport = motion.viewport else { return 0 }
    let pages = options.screensOfItemsAhead * viewport.height + max(0, motion.travel(in: Self.pageSeconds, from: time))
    return layout.itemCount(fillingDownTo: viewport.bottom + pages)
  }

  /// The item at an index was replaced. Returns the request for the old one.
  mutating func replace(_ index: Int) -> Work? {
    settled[index] = nil
    isSettled = false
    return runs.removeValue(forKey: index)
  }

  /// An item was removed from the list; those after it move up. Returns the request for it.
  mutating func remove(_ index: Int) -> Work? {
    let dropped = replace(index)
    for run in runs.values.sorted(by: { $0.index < $1.index }) where run.index > index {
      var moved = run
      moved.index -= 1
      runs[run.index] = nil
      runs[moved.index] = moved
    }
    settled = Dictionary(uniqueKeysWithValues: settled.map { key, bytes in (key > index ? key - 1 : key, bytes) })
    return dropped
  }

  // MARK: Decisions

  /// Updates the requests to match the window at `time`.
  ///
  /// - Parameters:
  ///   - isMissing: Whether an item has to be requested: its thumbnail is not in memory, and the cell shows an image.
  ///     Called once while the item is in the window.
  ///   - received: The received part of an item's body, 1 when it is complete; called for requests that may be
  ///     cancelled.
  mutating func update(
    at time: ContinuousClock.Instant, isMissing: (Int) -> Bool, received: (Int) -> Double
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
    var missing = beginFocus(at: time, isMissing: isMissing, looks: &looks, &changes)
    if missing * 2 >= max(1, window.focus.count), dropOthers(received: received, &changes) {
      missing = beginFocus(at: time, isMissing: isMissing, looks: &looks, &changes)
    }
    let isDone = missing == 0 && beginRest(at: time, isMissing: isMissing, looks: &looks, &changes)
    changes.wakeTime = wakeTime(after: time, isDone: isDone, hasLooksLeft: looks > 0)
    let wasSettled = isSettled
    isSettled = isDone && !runs.values.contains { !$0.lingers }
    changes.hasSettled = isSettled && !wasSettled
    return changes
  }

  /// Moves to the next window: cancels requests that have left it, and changes the priority of those that came into
  /// view or left it.
  private mutating func enter(_ next: PrefetchWindow, received: (Int) -> Double, _ changes: inout Changes) {
    if next.kept != window.kept {
      settled = settled.filter { next.kept.contains($0.key) }
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
        changes.dropped.append(run)
        continue
      }
      var kept = run
      kept.priority = next.visible.contains(index) ? .visible : .prefetch
      kept.lingers = false
      runs[index] = kept
      if kept.priority != run.priority { changes.reprioritised.append(kept) }
    }
  }

  /// Starts requests for missing items in the focus, and returns how many are missing.
  private mutating func beginFocus(
    at time: ContinuousClock.Instant, isMissing: (Int) -> Bool, looks: inout Int, _ changes: inout Changes
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
        guard isMissing(index) else {
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

  /// Cancels requests for cells outside of the focus, except those whose body is complete. True if there were any.
  private mutating func dropOthers(received: (Int) -> Double, _ changes: inout Changes) -> Bool {
    let others = runs.filter { index, _ in !window.focus.contains(index) && !window.visible.contains(index) }
    var hasDropped = false
    for (index, run) in others where received(index) < 1 {
      runs[index] = nil
      changes.dropped.append(run)
      hasDropped = true
    }
    return hasDropped
  }

  /// Starts requests for missing items ahead and behind. True when there is nothing more to start.
  private mutating func beginRest(
    at time: ContinuousClock.Instant, isMissing: (Int) -> Bool, looks: inout Int, _ changes: inout Changes
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
      guard isMissing(index) else {
        settled[index] = 0
        continue
      }
      // One request is always allowed, even if an image exceeds the whole budget.
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
    let work = Work(id: lastID, index: index, priority: priority, start: time)
    runs[index] = work
    changes.begun.append(work)
  }

  // MARK: Time

  private func isSlow(_ run: Work, at time: ContinuousClock.Instant) -> Bool { time - run.start >= pace.patience }

  /// The number of requests that compete for the link.
  private func runningCount(at time: ContinuousClock.Instant) -> Int {
    runs.values.reduce(0) { $0 + (isSlow($1, at: time) ? 0 : 1) }
  }

  /// The time of an update without other events: the viewport comes to rest, a request becomes slow, or more items have
  /// to be looked up.
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
  /// The limits in a prefetcher's options, or defaults for the pipeline: more requests than download slots, so that
  /// these are not idle during decodes.
  init(_ options: Prefetcher.Options, _ pipeline: ThumbnailPipeline.Configuration) {
    let slots = min(pipeline.downloads, pipeline.downloadsPerHost)
    running = max(1, options.maximumRunning ?? slots + pipeline.jobs)
    prefetches = max(1, options.maximumPrefetches ?? slots - 2)
  }
}
