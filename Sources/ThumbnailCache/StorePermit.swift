import Synchronization

/// A job's leave to change the caches. It is revoked when what the job works on is removed: from then on nothing of the job
/// is stored, while those who wait for it still get their thumbnails.
package final class StorePermit: Sendable {
  private let isValid = Mutex(true)

  package init() {}

  /// Makes a change, unless the permit was revoked; a revocation waits for changes under way. Returns whether it was made.
  ///
  /// - Parameter change: Takes microseconds, and waits for nothing.
  func perform<Failure: Error>(_ change: () throws(Failure) -> Void) throws(Failure) -> Bool {
    try isValid.withLock { isValid throws(Failure) in
      if isValid { try change() }
      return isValid
    }
  }

  /// Ends the permit. Returns once no change is under way.
  package func revoke() { isValid.withLock { $0 = false } }
}
