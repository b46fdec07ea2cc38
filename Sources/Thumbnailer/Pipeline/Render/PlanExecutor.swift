import DecodeSandbox
import HTTPSemantics
import ImageCodec
import Synchronization
import ThumbnailCore

/// Decodes as planned: in helper processes, or in process where nothing is isolated. Only pixels come of that; they are
/// encoded here, in either case.
struct PlanExecutor: Sendable {
  /// The decode of an image of more pixels takes so long that it has a lower priority, where `decodesGiveWay`.
  private static let longDecodePixels = 32_000_000

  let configuration: ThumbnailPipeline.Configuration
  /// Nil if everything is decoded in process.
  let helpers: HelperPool?
  /// Where the memory of a decode without a plan comes from.
  let memory: HelperMemory
  let runner: DecodeRunner
  private let indexes = RowIndexes()
  private let preparation = Preparation()

  /// Whether the first helper was started.
  private final class Preparation: Sendable {
    let hasBegun = Atomic(false)
  }

  /// The most that a plan may take that runs beside others, in bytes.
  var mostMemory: Int {
    let isolation = configuration.isolation
    return isolation.isInProcess ? runner.memory.capacity : min(runner.memory.capacity, isolation.memoryLimit.bytes)
  }

  init(
    _ configuration: ThumbnailPipeline.Configuration, helpers: HelperPool?, memory: HelperMemory, runner: DecodeRunner
  ) {
    (self.configuration, self.helpers, self.memory, self.runner) = (configuration, helpers, memory, runner)
  }

  /// Has a helper start, so that the image that is being loaded finds it ready.
  func prepare() {
    guard let helpers, !preparation.hasBegun.exchange(true, ordering: .relaxed) else { return }
    Task { [workers = runner.workers] in
      // The worker's thread lasts as long as the pipeline.
      try await workers.run { _ in helpers.prepare() }
    }
  }

  /// Carries out a plan, in memory of the budget: what it predicts.
  ///
  /// - Parameters:
  ///   - isReserved: Whether the caller has reserved these bytes, as the decode runs alone.
  func decode(
    _ plan: DecodePlan, _ variants: [Variant], of body: SourceBody, isReserved: Bool = false, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded {
    // Of a RAW file the helper chooses the same preview.
    let probe = body.container?.probe ?? plan.probe
    var order = order(probe.format, variants, probe, body, job)
    order.terms = PlanTerms(
      memoryBudget: plan.predictedBytes, isTolerant: plan.isTolerant,
      mayReadCoefficients: body.mayReadCoefficients && !plan.isTolerant,
      isBodyWhole: plan.isBodyWhole)
    if isReserved { order.patience = LoneDecode.patience }
    // The key of a file says its version, that of an address does not.
    let indexed = plan.usesIndex && body.isLocalFile && !job.policy.bypassesCaches ? job.source.key : nil
    let description = "\(plan)" + (plan.isTolerant ? ", as far as it can be read" : "")
    let givesWay = configuration.decodesGiveWay && plan.probe.size.pixelCount > Self.longDecodePixels
    return try await run(
      order, of: body, plan: description, bytes: plan.predictedBytes, isReserved: isReserved, indexed: indexed, for: job
    ) { [spare = runner.spare, bytes = body.bytes, indexes] cancellation in
      @Sendable func decode() -> [Rendered<ThumbnailRaster>] {
        let index = indexed.map { SharedIndex(indexes.index(of: $0)) }
        defer { if let indexed, let index { indexes.keep(index.value, of: indexed) } }
        return Downsampler.pixels(of: bytes, plan: plan, spare: spare, index: index, cancellation: cancellation)
      }
      return givesWay ? DecodeRunner.givingWay { decode() } : decode()
    }
  }

  /// Makes all the variants from the preview; nil if it does not match the image.
  func decode(
    _ preview: PreviewPlan, _ variants: [Variant], _ probe: ImageProbe, of body: SourceBody, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded? {
    var order = order(probe.format, variants, probe, body, job)
    order.terms = PlanTerms(
      memoryBudget: preview.predictedBytes, isBodyWhole: body.isComplete, readsPreview: true)
    let decoded = try await run(
      order, of: body, plan: "embedded preview, \(preview.plan)", bytes: preview.predictedBytes, preview: preview.kind,
      for: job
    ) { [bytes = body.bytes] cancellation in
      Downsampler.pixels(of: bytes, preview: preview, cancellation: cancellation)
        ?? variants.map { Rendered(variant: $0, result: .failure(.handedOver(reason: "the preview does not match"))) }
    }
    let isHandedOver = decoded.results.contains { if case .failure(.handedOver) = $0.result { true } else { false } }
    return isHandedOver ? nil : decoded
  }

  /// Makes all the variants of an image whose header only a helper reads, as soon as memory is free. The helper's memory
  /// has its own limit: only the thumbnails' bytes count against the budget, unless a cgroup has no room for a helper
  /// besides it.
  func decode(
    _ variants: [Variant], of body: SourceBody, unplanned format: ImageFormat, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded {
    let most = HelperMemory.bytes(configuration.isolation)
    var order = order(format, variants, nil, body, job)
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
      order, of: body, plan: "\(format.rawValue) in a helper → \(sizes)", bytes: reserved, isReserved: true, for: job
    ) { _ in
      variants.map { Rendered(variant: $0, result: .failure(.unsupportedFormat(format))) }
    }
  }

  /// What a helper has made of an image of which the size was not known before, unless what is still to be done, to
  /// enlarge it or to put it on a canvas, takes more than was reserved, or than strangers may have made.
  private static func admitted(
    _ made: Rendered<ThumbnailRaster>, of size: PixelSize, _ order: HelperJob, _ strangersPixels: Int?
  ) -> Rendered<ThumbnailRaster> {
    let geometry = ThumbnailGeometry(source: size, variant: made.variant, isDrawing: order.format.isDrawing)
    let needed = ResponseRules.bytesPerPixel * geometry.output.pixelCount
    if case .failure = made.result { return made }
    if let strangersPixels, !geometry.isForStrangers(strangersPixels) {
      return Rendered(variant: made.variant, result: .failure(.notForStrangers(mostPixels: strangersPixels)))
    }
    guard needed > order.mostBytes else { return made }
    return Rendered(
      variant: made.variant, result: .failure(.exceedsMemoryBudget(needed: needed, budget: order.mostBytes)))
  }

  private func order(
    _ format: ImageFormat, _ variants: [Variant], _ probe: ImageProbe?, _ body: SourceBody, _ job: JobContext
  ) -> HelperJob {
    var order = HelperJob(format, variants, limits: job.policy.limits, probe: probe)
    order.acceptsDamage = configuration.damaged == .accept
    order.site = job.source.site.map { site in body.sender.map { "\(site) from \($0)" } ?? site }
    return order
  }

  /// Has a helper carry out the order; without helpers `decode` is called instead. An index of the rows of `indexed` is
  /// used and kept.
  private func run(
    _ order: HelperJob, of body: SourceBody, plan: String, bytes: Int, isReserved: Bool = false,
    preview: UsedPreview? = nil, indexed: SourceKey? = nil, for job: JobContext,
    decode: @escaping @Sendable (CancellationFlag) -> [Rendered<ThumbnailRaster>]
  ) async throws(ThumbnailError) -> Decoded {
    let (processors, preview) = (configuration.processors, body.container == nil ? preview : .camera)
    let outcome = try await runner.run(
      plan, bytes: bytes, isReserved: isReserved, of: body.bytes, for: job
    ) { [helpers, indexes, spare = runner.spare, source = body.container?.bytes ?? body.bytes] cancellation in
      var (size, rendered) = (order.probe?.size, [Rendered<ThumbnailRaster>]())
      if let helpers {
        var order = order
        order.hasSpareProcessor = order.canUseTwoProcessors && spare.take()
        defer { if order.hasSpareProcessor { spare.giveBack() } }
        order.index = indexed.map { indexes.index(of: $0) }
        let made = helpers.render(source, order, cancellation: cancellation)
        (size, rendered) = (size ?? made.size, made.results)
        if let indexed, let index = made.index { indexes.keep(index, of: indexed) }
        if order.probe == nil, let size {
          rendered = rendered.map { Self.admitted($0, of: size, order, job.policy.options.strangersPixels) }
        }
      } else {
        rendered = decode(cancellation)
      }
      let description = SourceDescription(
        size: size ?? PixelSize(0, 0), format: order.format, byteCount: source.count, preview: preview)
      let finisher = ThumbnailFinisher(
        source: description, processors: processors, makesMicroThumbnails: job.makesMicroThumbnails)
      return finisher.finish(rendered, cancellation: cancellation)
    }
    return Decoded(outcome, plan: plan)
  }
}

extension ImageSource {
  /// See `HelperJob.site`: a host, or what a program's loader says.
  fileprivate var site: String? {
    switch origin {
    case .web: HostName(of: url).map { "host \($0.host)" }
    case .userFile: ""
    case .loader(let loader): loader.site.map { "site \($0)" }
    }
  }
}
