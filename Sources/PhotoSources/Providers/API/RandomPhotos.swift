import ThumbnailCore

/// Photos by chance of a service that gives only so many at a time, and may repeat itself.
enum RandomPhotos {
  /// Asks for more until there are enough different ones, or none come.
  ///
  /// - Parameters:
  ///   - count: How many are wanted.
  ///   - provider: What the service is called in messages.
  ///   - calls: How often it is asked at most: one that repeats itself would be asked for ever.
  ///   - batch: Asks once; is told how many are missing, and may give more or fewer.
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
        // What has come is worth more than the error, unless nobody wants it any more.
        if photos.isEmpty || error == .cancelled { throw error }
        Log.providers.warning("\(provider): \(photos.count) of \(count) photos: \(error.message)")
        break
      }
    }
    return Array(photos.prefix(count))
  }
}
