// The module ThumbnailWorker: lines in, thumbnails made, responses and shards out, for engines that distribute work.

import Foundation
import Synchronization
package import ThumbnailCore
package import Thumbnailer

/// Reads lines that name images, makes their thumbnails and responds to each line. docs/worker.md has the protocol.
///
/// Memory is bounded: lines are read only as fast as they are worked on, and begun only as fast as responses are read.
package final class ThumbnailWorker: Sendable {
  /// The longest line, in bytes.
  static let longestLine = 8 << 20
  /// The fraction of the memory budget that lines and results may take in addition to it.
  private static let heldPart = 8
  /// The time that work continues after the worker begins to drain, before it is cancelled.
  static let drainLimit = Duration.seconds(10)
  /// The least that a line counts in memory, in bytes: its response and its tasks.
  private static let leastHeld = 4 << 10

  let pipeline: ThumbnailPipeline
  let options: Options
  let parser: LineParser
  let ledger = WorkLedger()
  private let input: LineInput
  private let responses: ResponseWriter
  private let held: WeightedSemaphore
  /// The memory of whole files in responses, as much again.
  let originals: WeightedSemaphore
  private let tasks = TaskBag()
  /// Lines that have begun and not ended.
  private let linesAtWork = Atomic(0)
  private let state: Mutex<State>
  /// Keeps the ledger listening.
  private let events: AsyncStream<PipelineEvent>
  let folder: SampleFolder?
  private let shardFolder: RootFolder?
  private let stop: StopSignal

  private struct State {
    var summary = Summary()
    var ending: Ending?
  }

  /// Sets up a worker that reads from a duplicate of one descriptor and writes to a duplicate of another.
  ///
  /// - Throws: An error whose message names the output folder, if it cannot be made or written to.
  package init(
    _ pipeline: ThumbnailPipeline, _ options: Options, reading input: Int32, writing output: Int32
  ) throws(FileWriteError) {
    (self.pipeline, self.options) = (pipeline, options)
    let share = pipeline.configuration.memoryBudget.bytes / Self.heldPart
    held = WeightedSemaphore(capacity: share)
    originals = WeightedSemaphore(capacity: share)
    switch options.destination {
    case .cache, .inline: (folder, shardFolder) = (nil, nil)
    case .folder(let path): (folder, shardFolder) = (SampleFolder(try RootFolder.writable(path)), nil)
    case .shards(let path, _): (folder, shardFolder) = (nil, try RootFolder.writable(path))
    }
    parser = LineParser(
      variants: options.variants, gravity: options.gravity, allowsPaths: options.allowsPaths,
      writesShards: options.destination.isShards)
    // Half of the share, which leaves room for the image of a line beside its text.
    let longest = min(Self.longestLine, share / 2)
    self.input = LineInput(Self.duplicate(input), longestLine: longest)
    let stop = StopSignal()
    self.stop = stop
    responses = ResponseWriter(Self.duplicate(output)) { stop.call(.noReader) }
    state = Mutex(State())
    events = pipeline.listen { [ledger] in ledger.take($0) }
  }

  private static func duplicate(_ descriptor: Int32) -> FileDescriptor {
    FileDescriptor(owning: fcntl(descriptor, F_DUPFD_CLOEXEC, 3))
  }

  /// Responds to all lines. To be called once. Cancelling the task drains the worker.
  package func run() async -> (ending: Ending, summary: Summary) {
    let shards = makeShards()
    // Separate tasks, because a draining worker continues with lines that have begun.
    let reading = Task { await read(shards) }
    let watching = Task { await responses.watchReader() }
    stop.onCall { [self] reason in
      note(reason)
      input.stop()
      let tasks = tasks
      let limit = reason == .noReader ? .zero : Self.drainLimit
      Task {
        try? await Task.sleep(for: limit)
        tasks.cancelAll()
        reading.cancel()
      }
    }
    return await withTaskCancellationHandler {
      await reading.value
      await tasks.waitForAll()
      // A reader may go once it has all responses.
      watching.cancel()
      await shards?.finish()
      let areWritten = await finishResponses()
      stop.finish()
      return conclude(areWritten)
    } onCancel: {
      stop.call(.told)
    }
  }

  /// Writes the remaining responses, but does not wait longer for a stopped reader once the worker drains. Returns
  /// whether all is written.
  private func finishResponses() async -> Bool {
    let areWritten = Promise<Bool, Never>()
    Task {
      await responses.finish()
      areWritten.resume(with: .success(true))
    }
    stop.onOverdue(after: Self.drainLimit) { areWritten.resume(with: .success(false)) }
    return await areWritten.wait(onCancel: {}).get()
  }

  private func note(_ reason: StopSignal.Reason) {
    state.withLock { state in
      if state.ending != nil { return }
      switch reason {
      case .told: state.ending = .drained
      case .failures: state.ending = .tooManyFailures
      case .noReader: break
      }
    }
  }

  private func conclude(_ areWritten: Bool) -> (ending: Ending, summary: Summary) {
    state.withLock { state in
      let summary = state.summary
      if let failure = responses.failure {
        return (.outputUnwritable(failure), summary)
      }
      if !areWritten { return (.readerStalled, summary) }
      if let ending = state.ending { return (ending, summary) }
      let isExceeded =
        options.failureLimit?.isExceeded(by: summary.failed, of: summary.lines, isAtEnd: true) == true
      return (isExceeded ? .tooManyFailures : .complete, summary)
    }
  }

  // MARK: Lines

  private func read(_ shards: ShardWriter?) async {
    let configuration = pipeline.configuration
    let window = TaskWindow<Void>(
      capacity: 4 * (configuration.downloads + configuration.jobs), tasks: tasks, waitsWhenCancelled: true)
    var isAtEnd = false
    while !isAtEnd {
      let lines: [LineSplitter.Line]
      switch await input.next() {
      case .lines(let some): lines = some
      case .end: (lines, isAtEnd) = ([], true)
      case .failure(let failure):
        (lines, isAtEnd) = ([], true)
        state.withLock { $0.ending = $0.ending ?? .inputUnreadable(failure.reason) }
      }
      for line in lines { await begin(line, window, shards) }
    }
    while !window.isEmpty { _ = await window.next() }
  }

  private func begin(_ line: LineSplitter.Line, _ window: TaskWindow<Void>, _ shards: ShardWriter?) async {
    let started = ContinuousClock.now
    let (parsed, length) = parse(line)
    let item = try? parsed.content.get()
    // Fails only when the worker gives up its lines.
    let reservation = try? await held.reserve(share(of: item, length), priority: PriorityControl(.visible))
    while item != nil, !stop.isCalled, !window.hasRoom { _ = await window.next() }
    guard let item, let reservation, !stop.isCalled else {
      var response = unbegun(parsed)
      response.duration = .now - started
      return deliver(response, [], reservation, shards)
    }
    linesAtWork.add(1, ordering: .relaxed)
    window.start { [self] report in
      var (response, files) = await work(on: item, of: parsed, report)
      response.duration = .now - started
      let isLast = linesAtWork.subtract(1, ordering: .relaxed).newValue == 0
      // No more responses come that could be written together with the pending ones.
      defer { if isLast { pipeline.writeSoon() } }
      guard response.isPending else { return deliver(response, files, reservation, shards) }
      // Beside the window, so that the wait holds back no other line.
      tasks.start { [self, response, files] in
        deliver(await response.committed(), files, reservation, shards)
      }
    }
  }

  /// The response to a line that is not begun: because it cannot be read, or because the worker ends.
  private func unbegun(_ line: ParsedLine) -> LineResponse {
    switch line.content {
    case .success: LineResponse(to: line, .skipped(.ending))
    case .failure(.blank): LineResponse(to: line, .skipped(.blank))
    case .failure(let failure): LineResponse(to: line, .failed(failure))
    }
  }

  private func parse(_ line: LineSplitter.Line) -> (ParsedLine, length: Int) {
    switch line {
    case .text(let bytes, let number): (parser.parse(bytes, number: number), bytes.count)
    case .overlong(let number):
      (ParsedLine(number: number, content: .failure(.overlong(input.longestLine))), 0)
    }
  }

  /// The memory of a line: its text, and its thumbnails until they are written.
  private func share(of item: WorkItem?, _ length: Int) -> Int {
    // Base64 text is held together with its decoded bytes.
    var bytes = Self.leastHeld + 2 * length
    if let item, options.destination.holdsResults {
      bytes += item.variants.reduce(0) { $0 + Self.estimate($1.size) }
    }
    return min(bytes, held.capacity)
  }

  /// A safe estimate of the bytes of a thumbnail: one for each pixel of the box; an open side counts as twice the
  /// other.
  private static func estimate(_ box: PixelSize) -> Int {
    let (short, long) = (min(box.width, box.height), max(box.width, box.height))
    return short * min(long, 2 * short)
  }

  // MARK: Responses

  private func makeShards() -> ShardWriter? {
    guard case .shards(_, let size) = options.destination, let shardFolder else { return nil }
    return ShardWriter(
      folder: shardFolder, shardSize: size,
      onResponse: { [self] in send($0, $1) },
      onShard: { [self] in send($0) })
  }

  private func deliver(
    _ response: LineResponse, _ files: [SampleFiles.File], _ held: WeightedSemaphore.Reservation?,
    _ shards: ShardWriter?
  ) {
    if let shards {
      shards.take(ShardWriter.Turn(response: response, files: files, held: held))
    } else {
      send(response, held)
    }
  }

  private func send(_ response: LineResponse, _ held: WeightedSemaphore.Reservation?) {
    responses.send(response.json(options.wording), holding: [held, response.originalShare].compactMap { $0 })
    let isExceeded = state.withLock { state in
      state.summary.count(response.outcome)
      let summary = state.summary
      return options.failureLimit?.isExceeded(by: summary.failed, of: summary.lines, isAtEnd: false) == true
    }
    if isExceeded { stop.call(.failures) }
  }

  private func send(_ report: ShardWriter.Report) {
    let (status, bytes, sha256): (String, Int?, String?)
    var failure: LineFailure?
    switch report.result {
    case .success(let file):
      (status, bytes, sha256) = ("ok", file.bytes, file.sha256)
      state.withLock { $0.summary.shards += 1 }
    case .failure(let error):
      let lasting = LineFailure(writing: report.name, error)
      (status, bytes, sha256, failure) = ("failed", nil, nil, lasting)
      state.withLock { $0.summary.shardFailure = lasting.message }
    }
    let shard: JSONObject = [
      "path": report.name, "status": status, "first": report.firstLine, "lines": report.lines,
      "samples": report.samples, "bytes": bytes, "sha256": sha256, "error": failure?.json(options.wording),
    ]
    responses.send((["shard": shard] as JSONObject).bytes)
  }
}

extension ThumbnailWorker.Options.Destination {
  var isShards: Bool { if case .shards = self { true } else { false } }
  /// Whether results are kept until they are written.
  var holdsResults: Bool { if case .cache = self { false } else { true } }
}
