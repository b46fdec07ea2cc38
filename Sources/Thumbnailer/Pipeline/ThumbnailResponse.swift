public import ThumbnailCore

/// A thumbnail and how it came about.
public struct ThumbnailResponse: Sendable {
  /// Where a thumbnail came from.
  public enum Origin: String, Sendable, Codable, CaseIterable {
    /// From the memory cache.
    case memory
    /// From the disk cache.
    case disk
    /// Shrunk from a larger thumbnail in the disk cache; nothing was downloaded.
    case shrunk
    /// From the caches, out of date until the server said that the picture has not changed. No body was downloaded.
    case revalidated
    /// From the caches, though out of date: the server could not be asked, or lets it be used while it is asked
    /// (`stale-while-revalidate`).
    case stale
    /// From the picture itself, downloaded and decoded now.
    case source
  }

  /// The thumbnail.
  public let thumbnail: Thumbnail
  /// Where it came from.
  public let origin: Origin
  /// The bytes that were downloaded for it, or the length of its local file; requests that shared a download all report
  /// the same.
  public let downloadedBytes: Int
  /// The bytes of the picture that were not downloaded because no thumbnail needed them, as far as the server told its
  /// length.
  public let bytesLeft: Int
  /// Whether the disk cache has it, or will within 50 ms. False where its server forbids to keep it (`no-store`), be it
  /// with the picture or with the word that it has not changed; for a thumbnail of a damaged picture; and for one that was made now where there is no
  /// disk cache, or the last that was to be written there could not be. True for whatever else came from the caches.
  public let isStored: Bool
  /// How the picture was read, in words: `jpeg 1/8, 750x500 → 256x171`. Nil where it was not read for this.
  public let plan: String?
  /// From the request to the answer.
  public let duration: Duration

  init(
    thumbnail: Thumbnail, origin: Origin, downloadedBytes: Int = 0, bytesLeft: Int = 0, isStored: Bool = true,
    plan: String? = nil, duration: Duration
  ) {
    self.thumbnail = thumbnail
    self.origin = origin
    self.downloadedBytes = downloadedBytes
    self.bytesLeft = bytesLeft
    self.isStored = isStored
    self.plan = plan
    self.duration = duration
  }
}

/// One request's own success or failure.
public struct ThumbnailResult: Sendable {
  /// The place of the request in the sequence that was asked for, from 0.
  public let index: Int
  /// The request.
  public let request: ThumbnailRequest
  /// What came of it.
  public let result: Result<ThumbnailResponse, ThumbnailError>
}
