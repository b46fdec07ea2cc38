import HTTPTransport
import ImageCodec
import JPEGCoefficients
import Synchronization
import ThumbnailCore

/// Observes an arriving body, and ends the transfer as soon as its header is refused or enough has arrived.
///
/// Counts all received bytes, including those of refused and truncated bodies, and keeps the last response's head.
final class HeaderObserver: BodyObserver {
  fileprivate struct State {
    var prober: HeaderProber
    var earlyStop: EarlyStop?
    var head: ResponseHead?
    var expectedLength: Int?
    var refusal: CodecError?
    var isEnough = false
    /// Whether the server sends parts of the body on request.
    var offersParts = false
    /// The segments for which the transfer was ended, to continue behind them.
    var run: SegmentRun?
    /// The position at which to check again whether requesting parts would save much.
    var nextLook = 0

    /// Whether much of the stream after this position can be spared by requests for parts of the body.
    mutating func spares(after position: Int, _ probe: ImageProbe?) -> Bool {
      guard offersParts, position >= nextLook, let expectedLength,
        expectedLength - position >= HeaderObserver.leastSpared
      else { return false }
      if probe != nil { nextLook = position + HeaderObserver.leastSpared / 2 }
      if let probe {
        return earlyStop?.sparedByRanges(probe, length: expectedLength) ?? 0 >= HeaderObserver.leastSpared
      }
      run = prober.run.flatMap { $0.range.count >= PartsLoader.leastSkipped ? $0 : nil }
      if run != nil { return true }
      let least = prober.isHEIF ? HeaderObserver.leastSparedOfHEIFHeader : HeaderObserver.leastSparedOfHeader
      return min(prober.distance ?? 0, expectedLength - position) >= least
    }
  }

  /// A request for a part of a body is worth this many bytes of its stream.
  static let leastSpared = 512 << 10
  /// The same for a header that continues much further behind, in a file that may be needed as a whole.
  static let leastSparedOfHeader = 4 << 20
  /// The same for a HEIC: phones that write the table of contents after the tiles write a thumbnail there, too.
  static let leastSparedOfHEIFHeader = 1 << 20

  private let limits: DecodeLimits
  let admitsUnsafe: Bool
  private let earlyStop: EarlyStop?
  private let monitor: PipelineMonitor?
  private let progress: BodyProgress?
  private let usesParts: Bool
  private let state: Mutex<State>
  /// Where the body continues behind a gap, and the state there.
  private let continuation = Mutex<(position: Int, state: State)?>(nil)

  /// `admitsUnsafe`: whether to accept images that only a helper can read. Without `earlyStop`, the whole body of an
  /// accepted image is downloaded; with `usesParts` the transfer may also end to request parts of the body instead.
  init(
    limits: DecodeLimits, admitsUnsafe: Bool = false, earlyStop: EarlyStop? = nil, usesParts: Bool = false,
    monitor: PipelineMonitor? = nil, progress: BodyProgress? = nil
  ) {
    (self.limits, self.admitsUnsafe, self.earlyStop) = (limits, admitsUnsafe, earlyStop)
    (self.usesParts, self.monitor, self.progress) = (usesParts, monitor, progress)
    state = Mutex(State(prober: HeaderProber(limits: limits), earlyStop: earlyStop))
  }

  /// The result of parsing the header, or why the image is refused; nil if that needs more bytes, or the complete body.
  var header: Result<ImageProbe, CodecError>? {
    state.withLock { state in
      if let refusal = state.refusal { return .failure(refusal) }
      return switch state.prober.status {
      case .more, .unclear: nil
      case .probed(let probe): .success(probe)
      case .failed(let error): .failure(foreignFormat(after: error).map { .unsupportedFormat($0) } ?? error)
      }
    }
  }

  /// The finest scale at which a body that was stopped here can be decoded.
  var finestScale: JPEGScale? { state.withLock { $0.earlyStop?.finestScale } }

  /// Whether the beginning of the body suffices. Otherwise the transfer was ended because what else is needed lies far
  /// behind: it is better requested by its ranges.
  var isEnough: Bool { state.withLock { $0.isEnough } }

  /// The segments to jump over, if the transfer was ended for that.
  var run: SegmentRun? { state.withLock { $0.run } }

  /// Takes bytes that stand for those of a gap. The next response continues behind them.
  func fill(_ bytes: [UInt8], at position: Int) {
    let filled = state.withLock { state in
      (state.run, state.offersParts) = (nil, false)
      bytes.withUnsafeBytes { _ = (state.prober.feed($0), state.earlyStop?.take($0, probe: nil)) }
      return state
    }
    continuation.withLock { $0 = (position + bytes.count, filled) }
  }

  /// The head of the last response; nil if there was none.
  var head: ResponseHead? { state.withLock { $0.head } }

  func responseBegins(_ head: ResponseHead) {
    state.withLock { $0.head = head }
  }

  func bodyBegins(expectedLength: Int?) {
    if let known = continuation.withLock({ $0?.state }) { return state.withLock { $0 = known } }
    progress?.begin(expectedLength: expectedLength)
    state.withLock {
      $0 = State(
        prober: HeaderProber(limits: limits), earlyStop: earlyStop, head: $0.head, expectedLength: expectedLength)
      if usesParts, let head = $0.head { $0.offersParts = BodyVersion(of: head, length: expectedLength) != nil }
    }
  }

  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict {
    monitor?.add(bytes.count, to: \.downloadedBytes)
    let offset = offset + (continuation.withLock { $0?.position } ?? 0)
    progress?.receive(upTo: offset + bytes.count)
    return state.withLock { state in
      if state.refusal != nil { return .refuse }
      let length = max(offset + bytes.count, state.expectedLength ?? 0)
      if length > limits.maximumBytes {
        state.refusal = .limitExceeded(.bytes, value: length, maximum: limits.maximumBytes)
        return .refuse
      }
      var probe: ImageProbe?
      switch state.prober.feed(bytes) {
      case .failed(let error): return foreignFormat(after: error) == nil ? .refuse : .more
      case .probed(let found): probe = found
      case .more, .unclear: break
      }
      if state.earlyStop?.take(bytes, probe: probe) == true { state.isEnough = true }
      return state.isEnough || state.spares(after: offset + bytes.count, probe) ? .enough : .more
    }
  }

  private func foreignFormat(after refusal: CodecError) -> ImageFormat? {
    admitsUnsafe ? refusal.helperFormat : nil
  }
}
