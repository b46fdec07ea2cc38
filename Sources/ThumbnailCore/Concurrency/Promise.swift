package import Synchronization

/// Passes one result from a thread to the one task that awaits it. Either of them may come first.
///
/// Resuming twice does no harm: the first result counts, so that a cancellation can race a completion. Inlinable, so
/// that the compiler specialises it in each module: every step of every image waits for a promise.
package final class Promise<Success: Sendable, Failure: Error>: Sendable {
  @usableFromInline enum State {
    case empty
    // An unchecked continuation, because this type itself ensures that it is resumed once.
    case waiting(UnsafeContinuation<Result<Success, Failure>, Never>)
    case resumed(Result<Success, Failure>)
    case done
  }

  @usableFromInline let state: Mutex<State>

  @inlinable package init() { state = Mutex(State.empty) }

  /// Sets the result. Returns false when it was set before.
  @inlinable @discardableResult
  package func resume(with result: Result<Success, Failure>) -> Bool {
    let (accepted, continuation) = state.withLock {
      state -> (Bool, UnsafeContinuation<Result<Success, Failure>, Never>?) in
      switch state {
      case .empty:
        state = .resumed(result)
        return (true, nil)
      case .waiting(let continuation):
        state = .done
        return (true, continuation)
      case .resumed, .done:
        return (false, nil)
      }
    }
    continuation?.resume(returning: result)
    return accepted
  }

  /// Suspends until there is a result. Call it once; `onCancel` runs when the waiting task is cancelled and must lead
  /// to a `resume`.
  @inlinable
  package func wait(onCancel: @escaping @Sendable () -> Void) async -> Result<Success, Failure> {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let ready = state.withLock { state -> Result<Success, Failure>? in
          if case .resumed(let result) = state {
            state = .done
            return result
          }
          state = .waiting(continuation)
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      onCancel()
    }
  }
}
