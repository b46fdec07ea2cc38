public import Foundation
public import ThumbnailCore

/// What happened at one stage on the way of a request. For progress displays, logs and tests.
///
/// Which event comes when, and in which order, stands in docs/observability.md.
public struct PipelineEvent: Sendable {
  /// The stage and what it measured.
  public enum Kind: Sendable {
    /// A thumbnail was found in the memory cache.
    case memoryHit(Variant)
    /// A thumbnail was found in the disk cache, or `shrunk` from a larger one there.
    case diskHit(Variant, shrunk: Bool, duration: Duration)
    /// A request joined the job that runs for its source already.
    case joined(Variant)
    /// A local file of `bytes` bytes is open, and its header read. The rest is read as it is decoded.
    case opened(bytes: Int)
    /// The body is here. `isComplete` is false when the rest was not needed.
    case downloaded(
      bytes: Int, expectedBytes: Int?, isComplete: Bool, attempts: Int, httpVersion: String, duration: Duration)
    /// The server says that the picture is still the one whose thumbnails are stored: these are good again.
    case revalidated(duration: Duration)
    /// The server has sent the picture anew: the stored thumbnails of all sizes give way to those made of it.
    case replaced
    /// Thumbnails were handed out though they are out of date, since their server could not be asked.
    case servedStale([Variant], ThumbnailError)
    /// A thumbnail was handed out though it is out of date, since its server allows that while it is asked
    /// (`stale-while-revalidate`); `revalidated`, `replaced` or `revalidationFailed` follows.
    case servedWhileRevalidating(Variant)
    /// What was handed out meanwhile could not be confirmed, and stays out of date. No request fails with that.
    case revalidationFailed(ThumbnailError)
    /// Nobody was asked, since the picture was not to be had a while ago; the failure follows.
    case rememberedFailure(code: String, until: Date)
    /// How the picture will be read, and the memory that is reserved for it in bytes.
    case planned(description: String, reservedBytes: Int)
    /// The thumbnails of these variants were made, in `duration` on a worker thread.
    case rendered([Variant], duration: Duration)
    /// A thumbnail of `bytes` bytes went to the disk cache.
    case stored(Variant, bytes: Int)
    /// Nothing more will be done for these requests of the source.
    case failed([Variant], ThumbnailError)
    /// The last waiter left; the job was stopped.
    case cancelled
    /// Something is wanted of a host or a photo service that is left alone for so long: since it asks for that, or since it
    /// has failed several times in a row, the last time with `failure`. Those who want it wait, or fail at once.
    case hostPaused(host: String, duration: Duration, failure: String?, isWaitedFor: Bool)
    /// The disk cache cannot be used for the moment: thumbnails are delivered all the same.
    case cacheProblem(String)
  }

  /// The picture. Nil for what concerns no single one.
  public let source: ImageSource?
  /// What happened.
  public let kind: Kind
}
