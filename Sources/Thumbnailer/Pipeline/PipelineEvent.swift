public import Foundation
public import ThumbnailCore

/// An event at one stage of a request. For progress displays, logs and tests.
///
/// docs/observability.md has the order of the events of an image.
public struct PipelineEvent: Sendable {
  /// The stage and its measurements.
  public enum Kind: Sendable {
    /// A thumbnail was found in the memory cache.
    case memoryHit(Variant)
    /// A thumbnail was found in the disk cache, or `shrunk` from a larger one there.
    case diskHit(Variant, shrunk: Bool, duration: Duration)
    /// A request joined the running job of its source.
    case joined(Variant)
    /// A local file of `bytes` bytes is open, and its header read. The rest is read during the decode.
    case opened(bytes: Int)
    /// An attempt at a download or a revalidation has ended: its number, from 1, and the status of the response; nil
    /// without a response.
    case attempted(number: Int, status: Int?)
    /// The body has been received. `isComplete` is false when the rest was not needed.
    case downloaded(
      bytes: Int, expectedBytes: Int?, isComplete: Bool, attempts: Int, httpVersion: String, duration: Duration)
    /// The server has responded that the image is not modified: the stored thumbnails are fresh again.
    case revalidated(duration: Duration)
    /// The server has sent a changed image: thumbnails made from it replace the stored ones of all sizes.
    case replaced
    /// Stale thumbnails were served, since their server could not be reached or failed.
    case servedStale([Variant], ThumbnailError)
    /// A stale thumbnail was served while it is being revalidated, as its server allows (`stale-while-revalidate`);
    /// `revalidated`, `replaced` or `revalidationFailed` follows.
    case servedWhileRevalidating(Variant)
    /// A background revalidation failed, and the thumbnail stays stale. No request fails because of that.
    case revalidationFailed(ThumbnailError)
    /// No request was sent, since an earlier failure for this image is cached; the failure follows.
    case rememberedFailure(code: String, until: Date)
    /// How the image was decoded, and the memory that the plan took, in bytes.
    case planned(description: String, reservedBytes: Int)
    /// The thumbnails of these variants were made: after `waited` for memory and a worker, in `duration` on a worker
    /// thread, which includes `encoding`, but not what that did for other images meanwhile.
    case rendered([Variant], waited: Duration, duration: Duration, encoding: Duration)
    /// A thumbnail of `bytes` bytes was handed to the disk cache.
    case stored(Variant, bytes: Int)
    /// A number of changes was committed to the disk cache together.
    case committed(changes: Int, duration: Duration)
    /// Requests of the source have failed: a variant for each of them.
    case failed([Variant], ThumbnailError)
    /// The last waiter left; the job was cancelled.
    case cancelled
    /// A request needs a host or photo service that is paused for this long: because it asked for that, or because it
    /// has failed several times in a row, the last time with `failure`. Such requests wait, or fail at once.
    case hostPaused(host: String, duration: Duration, failure: String?, isWaitedFor: Bool)
    /// The disk cache cannot be used for the moment: thumbnails are delivered all the same.
    case cacheProblem(String)
  }

  /// The source image. Nil for events without a single source.
  public let source: ImageSource?
  /// The kind of event.
  public let kind: Kind
}
