import HTTPTransport
import PhotoSources
import Synchronization
import ThumbnailCore

/// The photos that galleries have shown, by the keys in the addresses of their images. Only these are served there, so
/// nobody can have the server fetch anything else by such an address.
final class ImageRegistry: Sendable {
  /// Of at least that many photos the last shown are known.
  private static let capacity = 100_000

  private let headers: HostHeaders
  private let photos = Mutex(Generations<Photo>(capacity: capacity))

  init(headers: HostHeaders) { self.headers = headers }

  /// Admits a photo, and returns its key: that of its image in the cache, the same for all its sizes.
  func admit(_ photo: Photo) -> SourceKey {
    let key = key(of: photo)
    photos.withLock { $0.insert(photo, key.hex) }
    return key
  }

  /// The key of a photo's image in the cache.
  func key(of photo: Photo) -> SourceKey { photo.source(for: PixelSize(1, 1), fit: .cover).adding(headers).key }

  /// The photo of a key.
  func photo(_ key: some StringProtocol) -> Photo? {
    photos.withLock { $0.value(of: String(key)) }
  }

  /// The image of a photo in the smallest form that is large enough for a thumbnail.
  func source(of photo: Photo, for variant: Variant) -> ImageSource {
    photo.source(for: variant.size, fit: variant.fit).adding(headers)
  }
}
