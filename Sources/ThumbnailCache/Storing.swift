import Foundation
import HTTPSemantics
import Synchronization
public import ThumbnailCore

/// One thumbnail of an image, to be stored in the cache.
public struct CacheEntry: Sendable, Equatable {
  /// The variant.
  public var variant: Variant
  /// The thumbnail.
  public var thumbnail: Thumbnail

  /// Makes an entry.
  public init(variant: Variant, thumbnail: Thumbnail) {
    self.variant = variant
    self.thumbnail = thumbnail
  }
}

/// What happens to the other stored thumbnails of an image when some are stored.
package enum Replacement: Sendable {
  /// They stay, being of the same version.
  case none
  /// They are removed, being of an earlier version.
  case all
  /// They are removed if their responses show that they are of an earlier version. This is decided in the transaction
  /// that stores the new ones, since another process may have stored some after the look-up. `report` is called once
  /// they are gone, on any thread.
  case ifOutdated(by: FreshnessRule, report: @Sendable () -> Void)

  /// Whether they are known to be of an earlier version.
  package var isAll: Bool { if case .all = self { true } else { false } }
}

/// A job's permission to change the caches. It is revoked when its source is removed: from then on nothing of the job
/// is stored, while its waiters still get their thumbnails.
package final class StorePermit: Sendable {
  private let isValid = Mutex(true)

  package init() {}

  /// Makes a change, unless the permit was revoked; a revocation waits for running changes.
  ///
  /// - Parameter change: Must take microseconds, and must not block.
  package func perform(_ change: () -> Void) { isValid.withLock { if $0 { change() } } }

  /// Revokes the permit. Returns once no change is running.
  package func revoke() { isValid.withLock { $0 = false } }
}

/// Tells those who wait whether thumbnails that were handed to the disk cache have been committed. Holds until then the
/// memory that they reserve.
package final class StoreReceipt: Sendable {
  /// Whether the last commit has not failed, so that this one is likely to succeed.
  package let isLikely: Bool
  private let reservation: WeightedSemaphore.Reservation
  private let state = Mutex((isWritten: nil as Bool?, waiters: [Promise<Bool, Never>]()))

  init(_ reservation: WeightedSemaphore.Reservation, isLikely: Bool) {
    (self.reservation, self.isLikely) = (reservation, isLikely)
  }

  /// Ends the wait, and releases the memory. The first of several calls counts.
  func settle(isWritten: Bool) {
    let waiters = state.withLock { state -> [Promise<Bool, Never>] in
      if state.isWritten != nil { return [] }
      defer { state = (isWritten, []) }
      return state.waiters
    }
    reservation.release()
    for waiter in waiters { waiter.resume(with: .success(isWritten)) }
  }

  /// Whether the thumbnails were written, once that is known, even if the calling task is cancelled. Any number of tasks
  /// may wait.
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
