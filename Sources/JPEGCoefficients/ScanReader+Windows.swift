/// Reading a window of a scan that several readers decode, one window after the other.
extension ScanReader {
  /// The state between two MCUs.
  struct WindowState {
    /// The next bit of the window, and the loaded restart intervals that have not begun.
    var bit = 0
    var waitingIntervals = 0
    var mcusLeft: Int
    var untilRestart: Int
    var restarts: UInt8
    var predictors: SIMD4<Int>
  }

  /// The state before the first MCU.
  var firstState: WindowState {
    WindowState(mcusLeft: mcusLeft, untilRestart: restartInterval, restarts: 0, predictors: .zero)
  }

  /// The restart markers in the scan.
  var restartCount: Int { restartInterval > 0 ? (mcusLeft - 1) / restartInterval : 0 }

  var allPredictors: SIMD4<Int> {
    get {
      var values = SIMD4<Int>()
      for index in parts.indices { values[index] = predictors[index] }
      return values
    }
    nonmutating set { for index in parts.indices { predictors[index] = newValue[index] } }
  }

  private mutating func resume(_ state: WindowState) {
    (mcusLeft, untilRestart, restarts) = (state.mcusLeft, state.untilRestart, state.restarts)
    allPredictors = state.predictors
  }

  /// Moves on behind the windows that were decoded.
  mutating func leaveWindows(_ state: WindowState) {
    resume(state)
    hasDecoded = mcu > 0
    runs = []
    blockStarts?.clear()
  }

  /// Finds the beginnings of the blocks in a window.
  mutating func findStarts(in entropy: borrowing EntropyBuffer, isFirst: Bool, _ sizes: LaneSchedule.Sizes) {
    if blockStarts == nil { blockStarts = BlockStarts(laneTables, sizes) }
    blockStarts?.findAll(in: entropy, isFirst: isFirst)
  }

  /// Decodes the DC coefficients of a window, from the state at its beginning to that at its tail. False if the rest of
  /// the scan must be decoded otherwise, from the state on: behind damage, or where parts do not meet.
  mutating func passWindow(_ state: inout WindowState, _ entropy: inout EntropyBuffer) -> Bool {
    resume(state)
    entropy.begin(at: state.bit, waiting: state.waitingIntervals)
    note(&state, entropy)
    runs.removeAll(keepingCapacity: true)
    guard blockStarts?.hasLists == true else { return false }
    var lostBits = 0
    while mcusLeft > 0 {
      if restartInterval > 0 && untilRestart == 0 {
        guard entropy.beginInterval() else { return false }
        predictors.update(repeating: 0, count: parts.count)
        (untilRestart, restarts) = (restartInterval, (restarts + 1) & 7)
        note(&state, entropy)
      }
      let bit = entropy.bitPosition
      if bit >= entropy.tailBit { return 4 * lostBits <= bit }
      let (row, column) = place(of: mcu)
      moveSteps(toRow: row, column: column)
      let wanted = min(mcusAcross - column, restartInterval > 0 ? untilRestart : .max)
      var done = decodeKnown(wanted, &entropy, inWindow: true)
      if done == nil {
        done = run(&entropy.window, count: 1, limit: entropy.window.next)
        guard done == 1, !entropy.hasOverrun else { return false }
        lostBits += entropy.bitPosition - bit
      }
      mcusLeft -= done ?? 0
      untilRestart -= done ?? 0
      note(&state, entropy)
    }
    return false
  }

  private func note(_ state: inout WindowState, _ entropy: borrowing EntropyBuffer) {
    state = WindowState(
      bit: entropy.bitPosition, waitingIntervals: entropy.laterIntervals.count, mcusLeft: mcusLeft,
      untilRestart: untilRestart, restarts: restarts, predictors: allPredictors)
  }

  /// Decodes what `passWindow` has left.
  func finishRuns(of entropy: borrowing EntropyBuffer) {
    for run in runs {
      let (row, column) = place(of: run.mcu)
      moveSteps(toRow: row, column: column)
      allPredictors = run.predictors
      let blocks = PlacedBlocks(
        data: entropy.data, starts: run.starts, steps: steps, count: run.count, scratch: scratch)
      forEachPart { part, steps in if part.scaling.side != .one { blocks.decode(steps) } }
    }
  }

  /// Makes other readers of the same scan.
  var maker: () -> ScanReader {
    { [scan, parts, frame, restartInterval] in ScanReader(scan, parts, frame: frame, restartInterval: restartInterval) }
  }
}
