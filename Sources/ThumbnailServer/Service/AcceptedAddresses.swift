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
    let source: ImageSource
    /// Until when it is good, in seconds since 1970; nil for ever.
    let end: Int?
  }

  /// Longer ones are read each time, in bytes.
  private static let longestTarget = 1024
  /// The newest so many are kept, and as many before them.
  private static let generationLength = 1024

  private struct State {
    var newest: [String: Address] = [:]
    var older: [String: Address] = [:]
  }

  private let state = Mutex(State())

  /// What was understood of a request's target; nil if it has to be read.
  func address(of target: String, now: time_t = time(nil)) -> Address? {
    state.withLock { state in
      if let address = state.newest[target] { return address.isGood(at: now) ? address : nil }
      guard let address = state.older[target], address.isGood(at: now) else { return nil }
      Self.insert(address, target, &state)
      return address
    }
  }

  /// Remembers an address that was accepted.
  func insert(_ address: Address, of target: String) {
    guard target.utf8.count <= Self.longestTarget else { return }
    state.withLock { Self.insert(address, target, &$0) }
  }

  private static func insert(_ address: Address, _ target: String, _ state: inout State) {
    if state.newest.count >= generationLength { (state.older, state.newest) = (state.newest, [:]) }
    state.newest[target] = address
  }
}

extension AcceptedAddresses.Address {
  fileprivate func isGood(at now: time_t) -> Bool { end.map { now < $0 } ?? true }
}
