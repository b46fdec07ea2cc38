import Glibc
import ThumbnailCore

/// Reads the rows of a source ahead on a thread of its own, while the calling thread resamples earlier ones.
///
/// The rows are the same, in the same order, and an error comes behind those that were decoded before it. The thread
/// ends when no processor is idle; the calling thread then reads the rest itself.
final class RowReadAhead: RowSource, @unchecked Sendable {
  // Safety: the source belongs to the thread until it ends, and then to the caller. The strips belong to who has taken
  // them. The other variables are only accessed with `condition` locked, or by the caller alone.

  /// The bytes of a strip of rows, and the number of strips.
  private static let stripBytes = 1 << 18
  private static let stripCount = 4
  /// The pixels of an image, as it is decoded, from which on this is worthwhile.
  static let leastPixels = 2_000_000
  /// The stack of the thread, in bytes.
  private static let stackBytes = 1 << 20

  /// The most memory in bytes that it takes for an image of this size.
  static func bytes(_ size: PixelSize, rowBytes: Int) -> Int {
    size.pixelCount < leastPixels ? 0 : stripCount * max(stripBytes, rowBytes)
  }

  /// Decoded rows of one or more planes.
  private final class Strip {
    let memory: UnsafeMutableRawBufferPointer
    var used = 0
    var bands: [RowBand] = []

    init(_ byteCount: Int) { memory = .allocate(byteCount: byteCount, alignment: 16) }

    deinit { memory.deallocate() }
  }

  let layout: RowLayout
  private let source: any RowSource
  private let spare: SpareProcessors
  private let rowBytes: [Int]

  private let condition = Condition()
  private var ready: [Strip] = []
  private var empty: [Strip]
  /// The end of the source, or its error: it follows the strips that are ready.
  private var result: Result<Bool, CodecError>?
  private var isClosed = false
  private var hasThread = false
  private var wasStarted = false

  private init(_ source: any RowSource, _ spare: SpareProcessors) {
    (self.source, self.spare, layout) = (source, spare, source.layout)
    rowBytes = layout.planes.map { [layout] in $0.size.width * $0.channels * layout.sampleBytes }
    let length = max(Self.stripBytes, rowBytes.max() ?? 0)
    empty = (0..<Self.stripCount).map { _ in Strip(length) }
  }

  /// Passes a source to `body` that reads ahead, if a processor is idle and the rows are many.
  static func reading<Value, Failure: Error>(
    _ source: any RowSource, _ spare: SpareProcessors?, leastPixels: Int = leastPixels,
    _ body: (any RowSource) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let spare, spare.isThere, source.suitsReadAhead,
      (source.layout.planes.first?.size.pixelCount ?? 0) >= leastPixels
    else { return try body(source) }
    let ahead = RowReadAhead(source, spare)
    defer { ahead.close() }
    return try body(ahead)
  }

  func limit(to windows: [PixelRectangle]) { source.limit(to: windows) }

  private func withLock<Value>(_ body: (RowReadAhead) -> Value) -> Value {
    condition.lock()
    defer { condition.unlock() }
    return body(self)
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    startThread()
    let strip = withLock { ahead in
      while ahead.ready.isEmpty, ahead.hasThread { ahead.condition.wait() }
      return ahead.ready.isEmpty ? nil : ahead.ready.removeFirst()
    }
    guard let strip else {
      if let result = withLock({ $0.result }) { return try result.get() }
      return try source.read(receive)
    }
    for band in strip.bands { try receive(band) }
    (strip.used, strip.bands) = (0, [])
    withLock { ahead in
      ahead.empty.append(strip)
      ahead.condition.broadcast()
    }
    return true
  }

  /// Ends the thread, and waits for it.
  private func close() {
    withLock { ahead in
      ahead.isClosed = true
      ahead.condition.broadcast()
      while ahead.hasThread { ahead.condition.wait() }
    }
  }

  // MARK: The thread

  private func startThread() {
    if wasStarted { return }
    (wasStarted, hasThread) = (true, true)
    let hasStarted = SystemThread.start(name: "thumbnailer.rows", stackBytes: Self.stackBytes) { [self] in
      readAll()
      endThread()
    }
    if !hasStarted { endThread() }
  }

  private func endThread() {
    withLock { ahead in
      ahead.hasThread = false
      ahead.condition.broadcast()
    }
  }

  /// Reads until the source ends, or no processor is idle.
  private func readAll() {
    var strip: Strip?
    var hasMore = true
    while hasMore, !withLock({ $0.isClosed }), spare.take() {
      do throws(CodecError) {
        hasMore = try source.read { band throws(CodecError) in try add(band, to: &strip) }
        if !hasMore { withLock { $0.result = .success(false) } }
      } catch {
        hasMore = false
        withLock { $0.result = .failure(error) }
      }
      spare.giveBack()
    }
    if let strip { pass(strip) }
  }

  /// Copies a band to strips, and passes on those that are full.
  private func add(_ band: RowBand, to strip: inout Strip?) throws(CodecError) {
    let length = rowBytes[band.plane]
    var next = 0
    while next < band.count {
      guard let target = strip ?? takeEmpty(), let start = target.memory.baseAddress else { throw .cancelled }
      strip = target
      if band.isBlank || band.isLasting { return target.bands.append(band) }
      let count = min(band.count - next, (target.memory.count - target.used) / length)
      if count == 0 {
        pass(target)
        strip = nil
        continue
      }
      let rows = start + target.used
      for row in 0..<count { memcpy(rows + row * length, band.start + (next + row) * band.stride, length) }
      target.bands.append(RowBand(plane: band.plane, start: UnsafeRawPointer(rows), stride: length, count: count))
      target.used += count * length
      next += count
    }
  }

  /// Waits for an empty strip; nil if the rest is not wanted.
  private func takeEmpty() -> Strip? {
    withLock { ahead in
      while ahead.empty.isEmpty, !ahead.isClosed { ahead.condition.wait() }
      return ahead.isClosed ? nil : ahead.empty.removeLast()
    }
  }

  private func pass(_ strip: Strip) {
    withLock { ahead in
      ahead.ready.append(strip)
      ahead.condition.broadcast()
    }
  }
}
