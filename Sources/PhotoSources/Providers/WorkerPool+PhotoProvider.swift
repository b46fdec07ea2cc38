import ThumbnailCore

extension WorkerPool {
  /// Runs a provider's blocking work on one of the threads. The flag is set when the calling task is cancelled.
  func provide<Success: Sendable>(
    _ work: @escaping @Sendable (CancellationFlag) throws(ProviderError) -> Success
  ) async throws(ProviderError) -> Success {
    let result: Result<Success, ProviderError>
    do {
      result = try await run { cancelled in
        Result { () throws(ProviderError) in try work(cancelled) }
      }
    } catch {
      throw .cancelled
    }
    return try result.get()
  }
}
