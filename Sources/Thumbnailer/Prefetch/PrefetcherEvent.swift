public import ThumbnailCore

/// What became of an item of a prefetcher. Events come in the order in which things happened; their indices are
/// those of the list as it was then.
public enum PrefetcherEvent: Sendable {
  /// Work for the item has begun, at this priority.
  case started(index: Int, ImageSource, Priority)
  /// The item's thumbnail is in the caches. `ThumbnailResponse.origin` tells whether there was work to do for it.
  case ready(index: Int, ImageSource, ThumbnailResponse)
  /// The item has no thumbnail. It is tried again when it has left the window and comes back.
  case failed(index: Int, ImageSource, ThumbnailError)
  /// The item left the window before its thumbnail was there, and its work was dropped. Where that came too late to stop
  /// it, `ready` follows.
  case cancelled(index: Int, ImageSource)
  /// Everything that the window asks for is there, or has failed.
  case settled
}
