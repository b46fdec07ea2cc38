import Synchronization

/// A job's permission to change the caches. It is revoked when its source is removed: from then on nothing of the job
/// is stored, while its waiters still get their thumbnails.
package final class StorePermit: Sendable {
  private let isValid = Mutex(true)

  package init() {}

  /// Makes a change, unless the permit was revoked; a revocation waits for running changes. Returns whether it was
  /// made.
  ///
  /// - Parameter change: Must take microseconds, and must not block.
  @discardableResult
  package func perform<Failure: Error>(_ change: () throws(Failure) -> Void) throws(Failure) -> Bool {
    try isValid.withLock { isValid throws(Failure) in
      if isValid { try change() }
      return isValid
    }
  }

  /// Revokes the permit. Returns once no change is running.
  package func revoke() { isValid.withLock { $0 = false } }
}
