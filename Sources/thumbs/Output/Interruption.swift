import Dispatch
import Foundation
import Synchronization

/// Turns the first SIGINT or SIGTERM into a cancellation of the work, so that finished results are kept; a second one
/// ends the process at once.
final class Interruption: @unchecked Sendable {
  // Safety: `sources` is written only by `cancelling`, before the work starts.
  private var sources: [any DispatchSourceSignal] = []
  private let received = Atomic<Int32>(0)

  /// What a command says that was stopped.
  static let message = "stopped; what is done is kept, and the same command does the rest"

  /// The received signal; nil if there was none.
  var signal: Int32? {
    let number = received.load(ordering: .acquiring)
    return number == 0 ? nil : number
  }

  /// Runs `work` in a task that the first signal cancels. To be called once.
  func cancelling<Success: Sendable>(_ work: @escaping @Sendable () async throws -> Success) async throws -> Success {
    let task = Task { try await work() }
    for number in [SIGINT, SIGTERM] {
      // The default action would end the process before the dispatch source is notified.
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
