import CLibC
import Glibc

/// A thread of our own for blocking work. Unlike Foundation's `Thread`, it reports when the system has no thread left.
package enum SystemThread {
  /// The body of a new thread, which frees it.
  private final class Work {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
  }

  /// Runs `body` on a new thread.
  ///
  /// - Parameters:
  ///   - name: Linux shows its first 15 characters.
  ///   - stackBytes: The size of its stack.
  /// - Returns: False if no thread can be started, as under a limit of processes or without memory; `body` is not run.
  package static func start(name: String, stackBytes: Int, _ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackBytes)
    let work = Unmanaged.passRetained(Work(name: name, body: body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        clibc_name_thread(work.name)
        work.body()
        return nil
      }, work.toOpaque())
    if status != 0 { work.release() }
    return status == 0
  }

  /// Lowers the scheduling priority of the calling thread, and of those that it starts.
  package static func giveWay() {
    #if os(Linux)
      // On Linux this changes the calling thread alone. At 5 it gets a third of the processor time of others.
      _ = nice(5)
    #endif
  }
}

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
