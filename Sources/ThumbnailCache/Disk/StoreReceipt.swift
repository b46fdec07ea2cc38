import Synchronization
import ThumbnailCore

/// Tells those who wait whether thumbnails that were handed to the disk cache have been committed. Holds until then the
/// memory that they reserve.
package final class StoreReceipt: Sendable {
  private enum State {
    // Unchecked, since each is resumed once: when the state changes.
    case pending([UnsafeContinuation<Bool, Never>])
    case settled(isWritten: Bool)
  }

  /// Whether the last commit has not failed, so that this one is likely to succeed.
  package let isLikely: Bool
  private let state = Mutex(State.pending([]))
  private let reservation: WeightedSemaphore.Reservation

  init(_ reservation: WeightedSemaphore.Reservation, isLikely: Bool) {
    (self.reservation, self.isLikely) = (reservation, isLikely)
  }

  /// Ends the wait, and releases the memory. The first of several calls counts.
  func settle(isWritten: Bool) {
    let waiters = state.withLock { state -> [UnsafeContinuation<Bool, Never>] in
      guard case .pending(let waiters) = state else { return [] }
      state = .settled(isWritten: isWritten)
      return waiters
    }
    reservation.release()
    for waiter in waiters { waiter.resume(returning: isWritten) }
  }

  /// Whether the thumbnails were written, once that is known, even if the calling task is cancelled. Any number of tasks
  /// may wait.
  package func isWritten() async -> Bool {
    await withUnsafeContinuation { continuation in
      let known = state.withLock { state -> Bool? in
        switch state {
        case .pending(let waiters):
          state = .pending(waiters + [continuation])
          return nil
        case .settled(let isWritten): return isWritten
        }
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
