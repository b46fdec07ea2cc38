import HTTPTransport
import Synchronization
import ThumbnailCore

/// The received part of a job's body: for deciding whether to drop the job, and for the followers of a request's
/// progress.
///
/// Written by the receiving thread, read by any. The numbers need not be consistent with each other, because decisions
/// from them are estimates. Without a follower an update is a few atomic stores.
final class BodyProgress: Sendable {
  private let received = Atomic(0)
  /// The expected length in bytes; 0 while it is unknown.
  private let expected = Atomic(0)
  private let complete = Atomic(false)
  /// The raw value of the stage.
  private let stage = Atomic(RequestProgress.Stage.lookingUp.rawValue)
  /// The followers.
  let updates = EventHub<RequestProgress>()
  /// Whether the transfer waits for a silent server.
  let silence = ObservedValue(ServerSilence.responding)

  /// The received part, from 0 to 1; 1 only when everything needed has arrived. 0 while the length is unknown.
  var fraction: Double {
    if complete.load(ordering: .relaxed) { return 1 }
    let length = expected.load(ordering: .relaxed)
    return length > 0 ? min(Double(received.load(ordering: .relaxed)) / Double(length), 0.99) : 0
  }

  /// The state now.
  var current: RequestProgress {
    let expected = expected.load(ordering: .relaxed)
    return RequestProgress(
      stage: .init(rawValue: stage.load(ordering: .relaxed)) ?? .lookingUp,
      receivedBytes: received.load(ordering: .relaxed), expectedBytes: expected > 0 ? expected : nil)
  }

  /// Marks the start of a transfer.
  func begin(expectedLength: Int?) {
    received.store(0, ordering: .relaxed)
    expected.store(expectedLength ?? 0, ordering: .relaxed)
    enter(.downloading)
  }

  /// Records that the first `count` bytes of the body have arrived.
  func receive(upTo count: Int) {
    received.store(count, ordering: .relaxed)
    updates.send(current)
  }

  /// Sets whether everything needed has arrived; false again if more turns out to be needed.
  func setComplete(_ isComplete: Bool) {
    complete.store(isComplete, ordering: .relaxed)
    enter(isComplete ? .decoding : .waiting)
  }

  private func enter(_ stage: RequestProgress.Stage) {
    self.stage.store(stage.rawValue, ordering: .relaxed)
    updates.send(current)
  }
}
