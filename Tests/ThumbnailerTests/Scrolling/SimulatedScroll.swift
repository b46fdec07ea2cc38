@testable import ThumbnailCore
@testable import Thumbnailer
@testable import scroll_player

/// Plays a scroll against a schedule and a link that all transfers share evenly, in steps of simulated time: what the
/// rules of the schedule are worth, without a machine's moods.
struct SimulatedScroll {
  /// What came of one cell.
  struct Cell {
    var seen: Double?
    var ready: Double?
    var received = 0.0
    var begun = 0
  }

  private struct Transfer {
    let work: PrefetchSchedule.Work
    let start: Double
    /// Waits for a slot, then for the first byte, then receives, then is decoded.
    var slot: Double?
    var received = 0.0
    var complete: Double?
    var isVisible: Bool
  }

  let layout: GridLayout
  let height: Double
  var bytesPerSecond = 2_500_000.0
  var latency = 0.05
  var bytes = 150_000.0
  var decode = 0.015
  var slots = 6
  private let step = 0.002
  private(set) var cells: [Int: Cell] = [:]
  private(set) var bytesReceived = 0.0
  private var transfers: [Transfer] = []

  init(layout: GridLayout, height: Double) {
    (self.layout, self.height) = (layout, height)
  }

  /// Where the view is after so many seconds, in points.
  func offset(of trace: ScrollTrace, at seconds: Double) -> Double {
    trace.row(at: .seconds(seconds)) * layout.rowPitch
  }

  /// Plays a trace, and some seconds more at its end.
  mutating func play(_ trace: ScrollTrace, with schedule: inout PrefetchSchedule, rest: Double = 5) {
    let start = ContinuousClock().systemEpoch
    let end = trace.duration.seconds + rest
    var wakeTime: ContinuousClock.Instant?
    for number in 0...Int(end / step) {
      let now = Double(number) * step
      let time = start + .seconds(now)
      var isDue = wakeTime.map { $0 <= time } ?? false
      for work in advance(to: now) {
        let index = schedule.finish(work.id, bytes: Int(bytes), duration: .seconds(now - work.start))
        if index != nil { isDue = true }
        cells[work.index, default: Cell()].ready = now
      }
      // Sixty frames a second, as long as the view moves.
      if number % 8 == 0, now <= trace.duration.seconds {
        schedule.move(to: Viewport(offset: offset(of: trace, at: now), height: height, time: time))
        for index in layout.items(from: offset(of: trace, at: now), height: height)
        where cells[index]?.seen == nil {
          cells[index, default: Cell()].seen = now
        }
        isDue = true
      }
      guard isDue else { continue }
      let changes = schedule.update(at: time) {
        cells[$0]?.ready == nil
      } received: { index in
        transfers.first { $0.work.index == index }.map { $0.complete == nil ? $0.received / bytes : 1 } ?? 0
      }
      wakeTime = changes.wakeTime
      for work in changes.dropped { transfers.removeAll { $0.work.id == work.id } }
      for work in changes.reprioritised {
        for place in transfers.indices where transfers[place].work.id == work.id {
          transfers[place].isVisible = work.priority == .visible
        }
      }
      for work in changes.begun {
        cells[work.index, default: Cell()].begun += 1
        transfers.append(Transfer(work: work, start: now, isVisible: work.priority == .visible))
      }
    }
  }

  /// Moves the transfers on to a moment, and returns what is done by then, with when it began.
  private mutating func advance(to now: Double) -> [(id: UInt64, index: Int, start: Double)] {
    for isVisible in [true, false] {
      for place in transfers.indices where transfers[place].isVisible == isVisible && transfers[place].slot == nil {
        let busy = transfers.count { $0.slot != nil && $0.complete == nil }
        if busy < slots { transfers[place].slot = now }
      }
    }
    let receiving = transfers.indices.filter { place in
      transfers[place].complete == nil && transfers[place].slot.map { now - $0 >= latency } ?? false
    }
    for place in receiving {
      let part = min(bytesPerSecond * step / Double(receiving.count), bytes - transfers[place].received)
      transfers[place].received += part
      bytesReceived += part
      cells[transfers[place].work.index, default: Cell()].received += part
      if transfers[place].received >= bytes - 1 { transfers[place].complete = now }
    }
    let done = transfers.filter { $0.complete.map { complete in now - complete >= decode } ?? false }
    transfers.removeAll { transfer in done.contains { $0.work.id == transfer.work.id } }
    return done.map { ($0.work.id, $0.work.index, $0.start) }
  }
}
