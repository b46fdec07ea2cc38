import ThumbnailCore

/// Following the progress of a request.
extension ThumbnailPipeline {
  /// The requested thumbnail, and how it was obtained, with calls that report the progress.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - onProgress: Called with the current state and then as it changes, from a task of its own: one call at a time,
  ///     none after this method has returned. A slow one misses states in between, and delays the work in no way; only
  ///     this method waits for the last call to end. Not called for a thumbnail from the memory cache. A request that
  ///     joins a running job begins with the job's state.
  public func response(
    for request: ThumbnailRequest, onProgress: @escaping @Sendable (RequestProgress) -> Void
  ) async throws(ThumbnailError) -> ThumbnailResponse {
    let started = ContinuousClock.now
    if let result = resultWithoutJob(request, since: started) { return try result.get() }
    let waiter = jobs.join([request], since: started)[0]
    let follower = jobs.progress(of: request.source, options: request.options).map { progress in
      let updates = progress.updates.subscribe(bufferingNewest: 1)
      return Task {
        onProgress(progress.current)
        for await update in updates { onProgress(update) }
      }
    }
    let result = await jobs.result(of: waiter)
    follower?.cancel()
    await follower?.value
    return try result.get()
  }
}
