import ThumbnailCore

/// Decodes the windows of one sequential scan on the calling thread and on others, while processors are idle.
///
/// Each thread takes the next window of the scan's data, in four steps: it loads the window, finds the beginnings of its
/// blocks by lanes, decodes the DC coefficients, and decodes the rest. The first and the third step of a window follow
/// the same step of the window before, and take a third of the time or less. The others need no other window.
///
/// What is not simple ends the team: the end of the data, damage, or parts that do not meet. The reader then continues
/// alone from the state behind the last good MCU, so that samples and errors are those of one thread.
final class ScanTeam: @unchecked Sendable {
  // Safety: the thread that loads a window has `cursor` and `tail` for itself, and the threads write to different
  // samples. The other variables are only accessed with `condition` locked.

  /// The most threads beside the calling one.
  static let mostHelpers = 3
  /// The stack of a thread, in bytes.
  private static let stackBytes = 1 << 20

  private let cursor: UnsafeMutablePointer<BodyCursor>
  private var tail: WindowTail
  private let makeReader: () -> ScanReader
  private let sizes: LaneSchedule.Sizes
  private let spare: SpareProcessors
  private let cancellation: CancellationFlag

  private let condition = Condition()
  private var isLoading = false
  /// The windows that were taken, and those whose DC coefficients are decoded.
  private var taken = 0
  private var passed = 0
  /// The state behind them, and its place in the body.
  private var state: ScanReader.WindowState
  private var position: (offset: Int, bit: Int)
  /// Whether no more windows are taken, and whether no more are passed.
  private var isEnded = false
  private var isStopped = false
  private var helpers = 0

  private init(
    _ reader: borrowing ScanReader, _ cursor: UnsafeMutablePointer<BodyCursor>, _ sizes: LaneSchedule.Sizes,
    _ spare: SpareProcessors, _ cancellation: CancellationFlag
  ) {
    (self.cursor, self.sizes, self.spare, self.cancellation) = (cursor, sizes, spare, cancellation)
    makeReader = reader.maker
    tail = WindowTail(bytes: .allocate(capacity: EntropyBuffer.reserve), markersLeft: reader.restartCount)
    (state, position) = (reader.firstState, (cursor.pointee.position, 0))
  }

  deinit { tail.bytes.deallocate() }

  /// Decodes as much of a scan as is simple, and leaves the reader, the cursor and the buffer behind it.
  static func read(
    _ reader: inout ScanReader, _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer,
    _ sizes: LaneSchedule.Sizes, _ spare: SpareProcessors, _ cancellation: CancellationFlag
  ) throws(JPEGError) {
    let position = withUnsafeMutablePointer(to: &cursor) { cursor in
      let team = ScanTeam(reader, cursor, sizes, spare, cancellation)
      team.startHelpers()
      team.work(&reader, &entropy, isHelper: false)
      let state = team.withLock { team in
        while team.helpers > 0 { team.condition.wait() }
        return team.state
      }
      reader.leaveWindows(state)
      return team.position
    }
    try entropy.move(to: position.offset, bit: position.bit, &cursor)
  }

  private func withLock<Result>(_ body: (ScanTeam) -> Result) -> Result {
    condition.lock()
    defer { condition.unlock() }
    return body(self)
  }

  /// Starts a thread for each idle processor.
  private func startHelpers() {
    while withLock({ $0.helpers }) < Self.mostHelpers, spare.take() {
      withLock { $0.helpers += 1 }
      let hasStarted = SystemThread.start(name: "thumbnailer.scan", stackBytes: Self.stackBytes) { [self] in
        spare.giveBack()
        help()
        endHelper()
      }
      if hasStarted { continue }
      spare.giveBack()
      return endHelper()
    }
  }

  private func help() {
    var reader = makeReader()
    var entropy = EntropyBuffer(length: sizes.bufferLength)
    work(&reader, &entropy, isHelper: true)
  }

  private func endHelper() {
    withLock { team in
      team.helpers -= 1
      team.condition.broadcast()
    }
  }

  private func work(_ reader: inout ScanReader, _ entropy: inout EntropyBuffer, isHelper: Bool) {
    while let number = take(isHelper) {
      defer { if isHelper { spare.giveBack() } }
      guard load(&entropy) else { return }
      reader.findStarts(in: entropy, isFirst: number == 0, sizes)
      guard var state = stateBefore(number) else { return }
      let isSimple = reader.passWindow(&state, &entropy)
      let position = entropy.windowPosition(of: state.bit)
      state.bit -= entropy.tailBit
      withLock { team in
        (team.state, team.position) = (state, position)
        team.passed += 1
        if !isSimple { (team.isEnded, team.isStopped) = (true, true) }
        team.condition.broadcast()
      }
      reader.finishRuns(of: entropy)
    }
  }

  /// Takes the next window, to load it; nil if there are no more. A helper also waits for an idle processor.
  private func take(_ isHelper: Bool) -> Int? {
    withLock { team in
      while !team.isEnded {
        if !team.isLoading, !isHelper || spare.take() {
          (team.isLoading, team.taken) = (true, team.taken + 1)
          return team.taken - 1
        }
        team.condition.wait()
      }
      return nil
    }
  }

  /// Loads the window that was taken. Errors are left for the reader to find again.
  private func load(_ entropy: inout EntropyBuffer) -> Bool {
    let isLoaded = try? entropy.loadWindow(&tail, length: sizes.bufferLength, from: &cursor.pointee)
    let isGood = isLoaded == true && !cancellation.isSet
    withLock { team in
      (team.isLoading, team.isEnded) = (false, team.isEnded || !isGood)
      team.condition.broadcast()
    }
    return isGood
  }

  /// Waits for the window before; nil if no more are passed.
  private func stateBefore(_ number: Int) -> ScanReader.WindowState? {
    withLock { team in
      while team.passed < number, !team.isStopped { team.condition.wait() }
      return team.isStopped ? nil : team.state
    }
  }
}
