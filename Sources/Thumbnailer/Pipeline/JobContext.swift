import ImageCodec
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
}
