import Glibc

/// A lock with a condition variable, as Foundation's `NSCondition`, without Foundation: loading it takes more than half
/// of the start of a helper process.
package final class Condition: @unchecked Sendable {
  // Safety: only the functions of POSIX threads use both, from any thread, at addresses that do not change.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let variable = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(variable, nil)
  }

  deinit {
    pthread_cond_destroy(variable)
    pthread_mutex_destroy(mutex)
    variable.deallocate()
    mutex.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }

  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Unlocks until a signal or a spurious wake-up, which POSIX allows, and locks again.
  package func wait() { pthread_cond_wait(variable, mutex) }

  package func signal() { pthread_cond_signal(variable) }

  package func broadcast() { pthread_cond_broadcast(variable) }
}
