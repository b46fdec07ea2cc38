import ThumbnailCache
import ThumbnailCore

/// A thumbnail from the caches.
struct FoundThumbnail: Sendable {
  let variant: Variant
  var stored: DatedThumbnail
  /// Whether it was shrunk from a larger one, and is not stored itself yet.
  let isShrunk: Bool
  /// Whether it may be used without revalidation.
  let isFresh: Bool

  /// The response for its waiters.
  func response(
    origin: ThumbnailResponse.Origin, isStored: Bool = true, receipt: StoreReceipt? = nil
  ) -> ThumbnailResponse {
    ThumbnailResponse(thumbnail: stored.thumbnail, origin: origin, isStored: isStored, receipt: receipt)
  }
}
