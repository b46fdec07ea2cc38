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
  private let extras = ExtraDemand()

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
  var makesMicroThumbnails: Bool { extras.state.withLock { $0.makesMicroThumbnails } }

  /// The clients whose requests have joined the job, any of which may have it decoded; empty: nobody's.
  var clients: Set<String> { extras.state.withLock { $0.clients } }

  /// Adds what a request demands that joins the job or starts it.
  func add(_ request: ThumbnailRequest) {
    demand.insert(request.variant)
    guard request.makesMicroThumbnail || request.client != nil else { return }
    extras.state.withLock { extras in
      if request.makesMicroThumbnail { extras.makesMicroThumbnails = true }
      if let client = request.client { extras.clients.insert(client) }
    }
  }
}

/// What requests demand besides variants, also if they have left meanwhile.
private final class ExtraDemand: Sendable {
  let state = Mutex((makesMicroThumbnails: false, clients: Set<String>()))
}
