import HTTPTransport
import Synchronization
import ThumbnailCore

/// How much of a job's picture has arrived, for whoever decides whether to drop the job or to go on without it.
///
/// Written by the thread that receives the bytes, read by any. The two numbers need not be of one moment: a decision
/// from them is a guess in any case.
final class BodyProgress: Sendable {
  private let received = Atomic(0)
  /// 0 while the length is not known.
  private let expected = Atomic(0)
  private let complete = Atomic(false)
  /// Whether the picture waits for a server that has fallen silent.
  let silence = ObservedValue(ServerSilence.answering)

  /// The part that has arrived, from 0 to 1; 1 only when all is here that is needed. 0 while the length is not known.
  var fraction: Double {
    if complete.load(ordering: .relaxed) { return 1 }
    let length = expected.load(ordering: .relaxed)
    return length > 0 ? min(Double(received.load(ordering: .relaxed)) / Double(length), 0.99) : 0
  }

  /// A transfer begins.
  func begin(expectedLength: Int?) {
    received.store(0, ordering: .relaxed)
    expected.store(expectedLength ?? 0, ordering: .relaxed)
  }

  /// So many bytes of the body are here.
  func receive(upTo count: Int) {
    received.store(count, ordering: .relaxed)
  }

  /// Whether everything is here; false again when it turns out that more is needed.
  func setComplete(_ isComplete: Bool) {
    complete.store(isComplete, ordering: .relaxed)
  }
}
