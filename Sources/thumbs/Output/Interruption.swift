import Dispatch
import Foundation
import Synchronization

/// Turns the first SIGINT or SIGTERM into a cancellation of the work, so that finished results are kept; a second one
/// ends the process at once.
final class Interruption: @unchecked Sendable {
  // Safety: `sources` is written only by `cancelling`, which is called once.
  private var sources: [any DispatchSourceSignal] = []
  private let received = Atomic<Int32>(0)
  /// A signal that came before its dispatch source was ready; 0 for none.
  private static let early = Atomic<Int32>(0)

  /// The message of a command that was stopped.
  static let message = "stopped; what is done is kept, and the same command does the rest"

  /// The received signal; nil if there was none.
  var signal: Int32? {
    let number = received.load(ordering: .acquiring)
    return number == 0 ? nil : number
  }

  /// The first signal cancels, the second ends the process.
  private func take(_ number: Int32, _ cancel: () -> Void) {
    if received.exchange(number, ordering: .acquiringAndReleasing) != 0 { _exit(128 + number) }
    cancel()
  }

  /// Runs `work` in a task that the first signal cancels. To be called once.
  func cancelling<Success: Sendable>(_ work: @escaping @Sendable () async throws -> Success) async throws -> Success {
    // A command of a test leaves the signals of its process alone.
    let numbers = Console.standard.output == STDOUT_FILENO ? [SIGINT, SIGTERM] : []
    // The default action would end the process before the dispatch source listens, with work that has begun.
    _ = Self.early.load(ordering: .relaxed)
    for number in numbers { Foundation.signal(number) { Interruption.early.store($0, ordering: .releasing) } }
    let task = Task { try await work() }
    for number in numbers {
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInteractive))
      source.setEventHandler { [self] in take(number, task.cancel) }
      source.setRegistrationHandler { [self] in
        let number = Self.early.exchange(0, ordering: .acquiringAndReleasing)
        if number != 0 { take(number, task.cancel) }
      }
      source.resume()
      sources.append(source)
    }
    return try await task.value
  }
}
