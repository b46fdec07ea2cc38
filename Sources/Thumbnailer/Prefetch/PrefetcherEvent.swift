public import ThumbnailCore

/// An event of a prefetcher's item. Events come in the order in which they happened; their indices are those of the
/// list at that time.
public enum PrefetcherEvent: Sendable {
  /// The item was requested at this priority.
  case started(index: Int, ImageSource, Priority)
  /// The item's thumbnail is in the caches. `ThumbnailResponse.origin` tells whether there was work to do for it.
  case ready(index: Int, ImageSource, ThumbnailResponse)
  /// The item's request failed. It is repeated when the item has left the window and comes back.
  case failed(index: Int, ImageSource, ThumbnailError)
  /// The item left the window before its thumbnail was ready, and its request was cancelled. If that came too late,
  /// `ready` follows.
  case cancelled(index: Int, ImageSource)
  /// Everything in the window is ready or has failed.
  case settled
}
