import ThumbnailCache
public import ThumbnailCore

/// A thumbnail and how it was obtained.
public struct ThumbnailResponse: Sendable {
  /// The origin of a thumbnail.
  public enum Origin: String, Sendable, Codable, CaseIterable {
    /// From the memory cache.
    case memory
    /// From the disk cache.
    case disk
    /// Shrunk from a larger thumbnail in the disk cache; nothing was downloaded.
    case shrunk
    /// From the caches, stale until the server confirmed it (304). No body was downloaded.
    case revalidated
    /// From the caches, though stale: the server has failed, or allows it during revalidation
    /// (`stale-while-revalidate`).
    case stale
    /// Made now from the source image, which was downloaded or read from a file.
    case source
  }

  /// The thumbnail.
  public let thumbnail: Thumbnail
  /// Its origin.
  public let origin: Origin
  /// The bytes that were downloaded for it, or the length of its local file; requests that shared a download all report
  /// the same.
  public let downloadedBytes: Int
  /// The bytes of the source image that were not downloaded because no thumbnail needed them, as far as its length is
  /// known.
  public let bytesLeft: Int
  /// Whether the disk cache has it, or will within 50 ms, or as soon as a slow disk allows: a response with prefetch
  /// priority waits while more than 8 MiB are pending, one with visible priority never does. False if its server
  /// forbids storing (`no-store`), in the response with the image or in a 304; for a thumbnail of a damaged image; for
  /// one made now if there is no disk cache, or the last write to it failed; and for one shrunk now from a stored one
  /// if more than 8 MiB are pending. True for all others from the caches.
  ///
  /// `committed` waits until that is known.
  public private(set) var isStored: Bool
  /// A description of the decode plan: `jpeg 1/8, 750x500 → 256x171`. Nil if nothing was decoded for this response.
  public let plan: String?
  /// The small image in the file that the thumbnail was made from, now or when it was stored; nil for the image itself.
  package var preview: UsedPreview? { thumbnail.source.preview }
  /// The time from the request to the response.
  public private(set) var duration: Duration
  /// Whether it was given to the disk cache, and is not known to be written.
  package var isPending: Bool { receipt != nil }
  /// The receipt of the disk cache. Nil if this response has not stored it, or once the result is known.
  private var receipt: StoreReceipt?

  /// - Parameter isStored: The value without a receipt.
  init(
    thumbnail: Thumbnail, origin: Origin, downloadedBytes: Int = 0, bytesLeft: Int = 0, isStored: Bool = true,
    receipt: StoreReceipt? = nil, plan: String? = nil, duration: Duration = .zero
  ) {
    self.thumbnail = thumbnail
    self.origin = origin
    self.downloadedBytes = downloadedBytes
    self.bytesLeft = bytesLeft
    self.isStored = receipt?.isLikely ?? isStored
    self.receipt = receipt
    self.plan = plan
    self.duration = duration
  }

  /// The same response once it is known whether the disk cache has written the thumbnail: see `isStored`. That takes up
  /// to 50 ms, or as long as the disk needs; `ThumbnailPipeline.writeSoon` ends the delay. Does not end earlier in a
  /// cancelled task.
  public func committed() async -> ThumbnailResponse {
    guard let receipt else { return self }
    var response = self
    response.isStored = await receipt.isWritten()
    response.receipt = nil
    return response
  }

  /// The same response for a request that has waited that long.
  func after(_ duration: Duration) -> ThumbnailResponse {
    var response = self
    response.duration = duration
    return response
  }
}
