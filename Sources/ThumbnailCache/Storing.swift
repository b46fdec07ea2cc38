import Foundation
import Synchronization
package import ThumbnailCore

/// One thumbnail of an image, to be stored in the cache.
package struct CacheEntry: Sendable, Equatable {
  /// The variant.
  package var variant: Variant
  /// The thumbnail.
  package var thumbnail: Thumbnail

  /// Makes an entry.
  package init(variant: Variant, thumbnail: Thumbnail) {
    self.variant = variant
    self.thumbnail = thumbnail
  }
}

/// What happens to the other stored thumbnails of an image when new ones are stored.
package enum Replacement: Sendable {
  /// They are kept, because they are of the same version.
  case none
  /// They are removed, because they are of an earlier version.
  case all
  /// They are removed if their responses show that they are of an earlier version. The transaction that stores the new
  /// ones decides, because another process may have stored some after the look-up. `report` is called after the
  /// removal, on any thread.
  case ifOutdated(by: ReuseRule, report: @Sendable () -> Void)

  /// Whether they are known to be of an earlier version.
  package var isAll: Bool { if case .all = self { true } else { false } }
}

/// A job's permission to change the caches. It is revoked when its source is removed. Then the job stores nothing more,
/// but its waiters still get their thumbnails.
package final class StorePermit: Sendable {
  private let isValid = Mutex(true)

  package init() {}

  /// Makes a change, unless the permit was revoked; a revocation waits for running changes.
  ///
  /// - Parameter change: Must return within microseconds.
  package func perform(_ change: () -> Void) { isValid.withLock { if $0 { change() } } }

  /// Revokes the permit. Returns once no change is running.
  package func revoke() { isValid.withLock { $0 = false } }
}

/// Reports whether the disk cache has committed the thumbnails. Holds their reserved memory until then.
package final class StoreReceipt: Sendable {
  /// Whether the last commit has succeeded, so that this one is likely to succeed.
  package let isLikely: Bool
  private let reservation: WeightedSemaphore.Reservation
  private let state = Mutex((isWritten: nil as Bool?, waiters: [Promise<Bool, Never>]()))

  init(_ reservation: WeightedSemaphore.Reservation, isLikely: Bool) {
    (self.reservation, self.isLikely) = (reservation, isLikely)
  }

  /// Ends the wait and releases the memory. Only the first call counts.
  func settle(isWritten: Bool) {
    let waiters = state.withLock { state -> [Promise<Bool, Never>] in
      if state.isWritten != nil { return [] }
      defer { state = (isWritten, []) }
      return state.waiters
    }
    reservation.release()
    for waiter in waiters { waiter.resume(with: .success(isWritten)) }
  }

  /// Waits until the thumbnails are written, or writing has failed, even if the calling task is cancelled. Returns
  /// whether they were written. Any number of tasks may wait.
  package func isWritten() async -> Bool {
    let promise = Promise<Bool, Never>()
    let known = state.withLock { state -> Bool? in
      if state.isWritten == nil { state.waiters.append(promise) }
      return state.isWritten
    }
    if let known { return known }
    return await promise.wait {}.get()
  }
}
