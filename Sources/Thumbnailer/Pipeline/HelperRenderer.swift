import DecodeSandbox
import ImageCodec
import Synchronization
import ThumbnailCore

/// Renders images in helper processes.
struct HelperRenderer: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let pool: HelperPool
  /// Where the helpers' memory comes from.
  let memory: HelperMemory
  let runner: DecodeRunner
  private let preparation = Preparation()

  /// Whether the first helper was started.
  private final class Preparation: Sendable {
    let hasBegun = Atomic(false)
  }

  init(_ configuration: ThumbnailPipeline.Configuration, pool: HelperPool, memory: HelperMemory, runner: DecodeRunner) {
    (self.configuration, self.pool, self.memory, self.runner) = (configuration, pool, memory, runner)
  }

  /// Has a helper start if the image that is being loaded may need one, so that the first finds it ready.
  func prepare() {
    guard configuration.isolation.distrusts(isUserFile: false),
      !preparation.hasBegun.exchange(true, ordering: .relaxed)
    else { return }
    Task { [pool, workers = runner.workers] in
      // The worker's thread lasts as long as the pipeline.
      try await workers.run { _ in pool.prepare() }
    }
  }

  /// The format of an image that a helper decodes whatever is made of it, from the result of our own header parser; nil
  /// if it is decoded in process or refused.
  func format(of header: Result<ImageProbe, CodecError>, _ body: SourceBody) -> ImageFormat? {
    switch header {
    case .success(let probe): configuration.isolation.formats == .all ? probe.format : nil
    case .failure(let error): body.admitsUnsafe ? HelperOnlyFormat.candidate(after: error) : nil
    }
  }

  /// Makes all the variants, as soon as memory is free. The helper's memory has its own limit: only the thumbnails'
  /// bytes count against the budget, unless a cgroup has no room for a helper besides it.
  ///
  /// - Parameter probe: The image's header, if it could be parsed.
  func decode(
    _ variants: [Variant], of body: SourceBody, _ format: ImageFormat, probe: ImageProbe?, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded {
    let most = HelperMemory.bytes(configuration.isolation)
    var order = order(format, variants, probe, job)
    order.mostBytes = min(order.mostBytes, runner.memory.capacity)
    // The helper's memory is reserved first, so that nothing is waited for while the thumbnails' memory is held.
    var room: WeightedSemaphore.Reservation?
    var reserved = order.mostBytes + (HelperPool.isCopied(format) ? body.bytes.count : 0)
    switch memory {
    case .beside: break
    case .limited(let helperMemory):
      do throws(WeightedSemaphore.Failure) {
        room = try await helperMemory.reserve(most, priority: job.priority)
      } catch {
        throw .cancelled
      }
    case .budget: reserved = min(reserved + most, runner.memory.capacity)
    }
    defer { room?.release() }
    let reservation = try await runner.reserve(reserved, of: body.bytes, for: job)
    defer { reservation.release() }
    let sizes = variants.map { "\($0.size)" }.joined(separator: ", ")
    return try await run(
      order, of: body, plan: "\(format.rawValue) in a helper → \(sizes)", bytes: reserved, isReserved: true, for: job)
  }

  /// Carries out a plan in a helper, in memory of the budget: what the plan predicts.
  ///
  /// - Parameters:
  ///   - isReserved: Whether the caller has reserved these bytes, as the decode runs alone.
  func decode(
    _ plan: DecodePlan, _ variants: [Variant], of body: SourceBody, isReserved: Bool = false, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded {
    // Of a RAW file the helper chooses the same preview.
    let probe = body.container?.probe ?? plan.probe
    var order = order(probe.format, variants, probe, job)
    order.terms = PlanTerms(
      memoryBudget: plan.predictedBytes, isTolerant: plan.isTolerant, mayReadCoefficients: body.mayReadCoefficients)
    if isReserved { order.patience = LoneDecode.patience }
    return try await run(
      order, of: body, plan: "\(plan), in a helper", bytes: plan.predictedBytes, isReserved: isReserved, for: job)
  }

  /// Makes all the variants from the preview; nil if it does not match the image.
  func decode(
    _ preview: PreviewPlan, _ variants: [Variant], _ probe: ImageProbe, of body: SourceBody, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded? {
    var order = order(probe.format, variants, probe, job)
    order.terms = PlanTerms(memoryBudget: preview.predictedBytes, readsPreview: true)
    let decoded = try await run(
      order, of: body, plan: "embedded preview, \(preview.plan), in a helper", bytes: preview.predictedBytes, for: job)
    let isHandedOver = decoded.results.contains { if case .failure(.handedOver) = $0.result { true } else { false } }
    return isHandedOver ? nil : decoded
  }

  private func order(
    _ format: ImageFormat, _ variants: [Variant], _ probe: ImageProbe?, _ job: JobContext
  ) -> HelperJob {
    var order = HelperJob(format, variants, limits: job.policy.limits, probe: probe)
    order.acceptsDamage = configuration.damaged == .accept
    order.processors = configuration.processors
    order.makesMicroThumbnails = job.makesMicroThumbnails
    return order
  }

  private func run(
    _ order: HelperJob, of body: SourceBody, plan: String, bytes: Int, isReserved: Bool = false, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded {
    let outcome = try await runner.run(
      plan, bytes: bytes, isReserved: isReserved, of: body.bytes, for: job
    ) { [pool, spare = runner.spare, bytes = body.container?.bytes ?? body.bytes] cancellation in
      var order = order
      order.hasSpareProcessor = order.canUseTwoProcessors && spare.take()
      defer { if order.hasSpareProcessor { spare.giveBack() } }
      return pool.render(bytes, order, cancellation: cancellation)
    }
    return Decoded(outcome, plan: plan)
  }
}
