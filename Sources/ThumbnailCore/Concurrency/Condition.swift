import Glibc

/// A lock, and threads that wait with it for what others change. Foundation's `NSCondition` is the same; this one spares
/// helper processes the loading of Foundation, more than half of their start.
package final class Condition: @unchecked Sendable {
  // Safety: both are only handed to the functions of POSIX threads, which are made for that, at addresses that stay.
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

  /// Unlocks until a signal comes (or without a reason, as POSIX allows), and locks again.
  package func wait() { pthread_cond_wait(variable, mutex) }

  package func signal() { pthread_cond_signal(variable) }

  package func broadcast() { pthread_cond_broadcast(variable) }
}
