import ImageCodec
import Synchronization
import ThumbnailCache
import ThumbnailCore

/// What every stage needs to know of the job that it works for.
struct JobContext: Sendable {
  let source: ImageSource
  /// What holds for its requests.
  let policy: JobPolicy
  /// The highest priority of the job's waiters, which may change at any time.
  let priority: PriorityControl
  /// The variants with waiters, readable at any time from any thread; updated together with the job table.
  let demand: VariantDemand
  /// How much of the body has arrived.
  let progress: BodyProgress
  /// Permits storing what the job makes, until the image is removed.
  let permit: StorePermit
  private let microThumbnails = MicroThumbnailDemand()

  init(
    _ source: ImageSource, policy: JobPolicy = JobPolicy(), priority: PriorityControl, demand: Set<Variant> = []
  ) {
    self.source = source
    self.policy = policy
    self.priority = priority
    self.demand = VariantDemand(demand)
    progress = BodyProgress()
    permit = StorePermit()
  }

  /// Whether a waiter has requested micro thumbnails.
  var makesMicroThumbnails: Bool { microThumbnails.isRequested.load(ordering: .relaxed) }

  /// Adds what a request demands that joins the job or starts it.
  func add(_ request: ThumbnailRequest) {
    demand.insert(request.variant)
    if request.makesMicroThumbnail { microThumbnails.isRequested.store(true, ordering: .relaxed) }
  }
}

/// Whether micro thumbnails are made. One takes less time than it would take to find out whether its waiter has left.
private final class MicroThumbnailDemand: Sendable {
  let isRequested = Atomic(false)
}
