import Foundation
import Synchronization
import ThumbnailCore

/// The addresses that were accepted lately: reading one and checking its signature takes longer than all else of a
/// thumbnail that is in memory.
///
/// What decides about an address is fixed while the server runs, but for the time until which it is good.
final class AcceptedAddresses: Sendable {
  /// What was understood of an address.
  struct Address: Sendable {
    let options: VariantPath
    let source: ServedSource
    /// Until when it is good, in seconds since 1970; nil for ever.
    let end: Int?
  }

  /// Longer ones are read each time, in bytes.
  private static let longestTarget = 1024
  /// The newest so many are kept, and as many before them.
  private static let generationLength = 1024

  private let addresses = Mutex(Generations<Address>(capacity: generationLength))

  /// What was understood of a request's target; nil if it has to be read.
  func address(of target: String, now: time_t = time(nil)) -> Address? {
    addresses.withLock { $0.value(of: target) }.flatMap { address in
      address.end.map { now < $0 } ?? true ? address : nil
    }
  }

  /// Remembers an address that was accepted.
  func insert(_ address: Address, of target: String) {
    guard target.utf8.count <= Self.longestTarget else { return }
    addresses.withLock { $0.insert(address, target) }
  }
}
