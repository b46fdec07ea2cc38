import Dispatch
import Foundation
import Synchronization

/// Turns the first Ctrl-C (or SIGTERM) into the cancellation of the running work, so that what is finished is kept; a
/// second one ends the process at once.
final class Interruption: @unchecked Sendable {
  // Safety: `sources` is written by `cancelling` alone, before the work starts, and only kept from then on.
  private var sources: [any DispatchSourceSignal] = []
  private let received = Atomic<Int32>(0)

  /// The signal that came; nil while none did.
  var signal: Int32? {
    let number = received.load(ordering: .acquiring)
    return number == 0 ? nil : number
  }

  /// Runs `work` in a task that the first signal cancels. To be called once.
  func cancelling<Success: Sendable>(_ work: @escaping @Sendable () async throws -> Success) async throws -> Success {
    let task = Task { try await work() }
    for number in [SIGINT, SIGTERM] {
      // The default action would end the process before the source sees the signal.
      Foundation.signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInteractive))
      source.setEventHandler { [self] in
        if received.exchange(number, ordering: .acquiringAndReleasing) != 0 { _exit(128 + number) }
        task.cancel()
      }
      source.resume()
      sources.append(source)
    }
    return try await task.value
  }
}
