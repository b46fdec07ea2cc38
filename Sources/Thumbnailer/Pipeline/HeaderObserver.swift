import JPEGCoefficients
import HTTPTransport
import ImageCodec
import Synchronization
import ThumbnailCore

/// Watches a body arrive, and ends the transfer as soon as its header says that it will not be read, or when what has
/// come is enough.
final class HeaderObserver: BodyObserver {
  /// What the body's beginning has told.
  enum Outcome: Sendable, Equatable {
    /// Nothing yet, or nothing that can be known before the body is complete: `probe(_:limits:)` tells then.
    case pending
    /// The header is known.
    case probed(ImageProbe)
    /// Only a helper can tell, which reads pictures of this format.
    case foreign(ImageFormat)
    /// The picture will not be read.
    case refused(CodecError)
  }

  private struct State {
    var prober: HeaderProber
    var earlyStop: EarlyStop?
    var expectedLength: Int?
    var refusal: CodecError?
  }

  private let limits: DecodeLimits
  private let admitsForeign: Bool
  private let earlyStop: EarlyStop?
  private let state: Mutex<State>

  /// `admitsForeign` tells whether pictures that only a helper can read are let pass. Without `earlyStop`, all of a body
  /// is wanted that will be read.
  init(limits: DecodeLimits, admitsForeign: Bool = false, earlyStop: EarlyStop? = nil) {
    self.limits = limits
    self.admitsForeign = admitsForeign
    self.earlyStop = earlyStop
    state = Mutex(State(prober: HeaderProber(limits: limits), earlyStop: earlyStop))
  }

  /// What is known by now.
  var outcome: Outcome {
    state.withLock { state in
      if let refusal = state.refusal { return .refused(refusal) }
      return switch state.prober.status {
      case .more, .unclear: .pending
      case .probed(let probe): .probed(probe)
      case .failed(let error): foreignFormat(after: error).map { .foreign($0) } ?? .refused(error)
      }
    }
  }

  /// The finest scale at which a body that was stopped here can be read.
  var finestScale: JPEGScale? { state.withLock { $0.earlyStop?.finestScale } }

  func bodyBegins(expectedLength: Int?) {
    state.withLock {
      $0 = State(prober: HeaderProber(limits: limits), earlyStop: earlyStop, expectedLength: expectedLength)
    }
  }

  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict {
    state.withLock { state in
      if state.refusal != nil { return .refuse }
      let length = max(offset + bytes.count, state.expectedLength ?? 0)
      if length > limits.maximumBytes {
        state.refusal = .limitExceeded(.bytes, value: length, maximum: limits.maximumBytes)
        return .refuse
      }
      switch state.prober.feed(bytes) {
      case .failed(let error): return foreignFormat(after: error) == nil ? .refuse : .more
      case .probed(let probe): return state.earlyStop?.take(bytes, probe: probe) == true ? .enough : .more
      case .more, .unclear:
        _ = state.earlyStop?.take(bytes, probe: nil)
        return .more
      }
    }
  }

  private func foreignFormat(after refusal: CodecError) -> ImageFormat? {
    admitsForeign ? ForeignFormat.candidate(after: refusal) : nil
  }
}
