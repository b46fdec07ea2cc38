import ThumbnailCore

/// Collects random photos from a service with a limited batch size, which may repeat photos.
enum RandomPhotos {
  /// Requests batches until there are enough distinct photos, or a batch brings none.
  ///
  /// - Parameters:
  ///   - count: The number of photos wanted.
  ///   - provider: The service's name in messages.
  ///   - calls: The most requests, since a service that repeats itself would be called without end.
  ///   - batch: Requests one batch, given the number still missing; may return more or fewer.
  static func collect(
    _ count: Int, from provider: String, calls: Int, by batch: (_ missing: Int) async throws(ProviderError) -> [Photo]
  ) async throws(ProviderError) -> [Photo] {
    var photos: [Photo] = []
    var seen: Set<String> = []
    var callsLeft = calls
    while photos.count < count, callsLeft > 0 {
      callsLeft -= 1
      do throws(ProviderError) {
        let batch = try await batch(count - photos.count)
        if batch.isEmpty { break }
        photos += batch.filter { seen.insert($0.id).inserted }
      } catch {
        // The photos so far are better than the error, unless the task was cancelled.
        if photos.isEmpty || error == .cancelled { throw error }
        Log.providers.warning("\(provider): \(photos.count) of \(count) photos: \(error.message)")
        break
      }
    }
    return Array(photos.prefix(count))
  }
}
