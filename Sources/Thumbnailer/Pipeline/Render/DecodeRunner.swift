import DecodeSandbox
import Dispatch
import Foundation
import HTTPSemantics
import ImageCodec
import Synchronization
import ThumbnailCore

/// Runs decodes on worker threads, in memory from their share of the budget: in helper processes, or in process where
/// nothing is isolated. Only pixels come of that; they are encoded here, in either case.
final class DecodeRunner: Sendable {
  /// With `decodesGiveWay`, the long decode of an image of more pixels has a lower priority.
  private static let longDecodePixels = 32_000_000

  let configuration: ThumbnailPipeline.Configuration
  let admission: DecodeAdmission
  /// The share of the memory budget for all decodes together.
  let memory: WeightedSemaphore
  /// The share of the memory budget for bodies.
  let bodyMemory: WeightedSemaphore
  /// The source of the memory of a decode without a plan.
  private let helperMemory: HelperMemory
  /// The turns of clients.
  let turns: DecodeTurns
  /// The threads for codec work and for opening files.
  let workers: WorkerPool
  /// Nil if everything is decoded in process.
  let helpers: HelperPool?
  private let monitor: PipelineMonitor
  /// The processors that decodes may use: one for each, and the rest for second threads.
  private let spare: SpareProcessors
  private let indexes = RowIndexes()
  /// Whether the first helper was started.
  private let hasPrepared = Atomic(false)

  init(_ configuration: ThumbnailPipeline.Configuration, bodyMemory: WeightedSemaphore, monitor: PipelineMonitor) {
    let (budget, isInProcess) = (configuration.budget, configuration.isolation.isInProcess)
    (self.configuration, self.bodyMemory, self.monitor) = (configuration, bodyMemory, monitor)
    admission = DecodeAdmission(configuration, budget: budget)
    memory = WeightedSemaphore(capacity: budget.decodeShare)
    helperMemory = HelperMemory(configuration, budget: budget, cgroupLimit: Cgroup.memoryLimit())
    turns = DecodeTurns(workers: configuration.jobs, bytes: budget.decodeShare)
    // While a helper decodes, its thread waits; another one encodes what came of the image before, so that no helper
    // waits for that.
    workers = WorkerPool(
      name: "thumbnailer.codec", threads: isInProcess ? configuration.jobs : 2 * configuration.jobs,
      givesWay: configuration.decodesGiveWay
    ) { Codec.threadWillEnd() }
    helpers =
      isInProcess ? nil : HelperPool(configuration.isolation, mostWorking: configuration.jobs, takesPrepared: true)
    spare = SpareProcessors(min(configuration.jobs, ProcessInfo.processInfo.activeProcessorCount))
  }

  /// Has a helper start, so that the image that is being loaded finds it ready.
  func prepare() {
    guard let helpers, !hasPrepared.exchange(true, ordering: .relaxed) else { return }
    // The worker's thread lasts as long as the pipeline.
    Task { [workers] in try await workers.run { _ in helpers.prepare() } }
  }

  /// Carries out a plan, in its predicted memory of the budget.
  ///
  /// - Parameter isReserved: Whether the caller has reserved these bytes, as the decode runs alone.
  func decode(
    _ plan: DecodePlan, _ variants: [Variant], of body: SourceBody, isReserved: Bool = false, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded {
    // The helper chooses the same preview of a RAW file.
    let probe = body.container?.probe ?? plan.probe
    var request = request(probe.format, variants, probe, of: body, for: job)
    var options = PlanOptions(memoryBudget: plan.predictedBytes)
    (options.isTolerant, options.isBodyWhole) = (plan.isTolerant, plan.isBodyWhole)
    options.mayReadCoefficients = body.mayReadCoefficients && !plan.isTolerant
    request.options = options
    if isReserved { request.patience = DecodeAdmission.patience }
    // The key of a file identifies its version; the key of an address does not.
    let isIndexed = plan.usesIndex && body.isLocalFile && !job.policy.bypassesCaches
    let isLong = configuration.decodesGiveWay && plan.probe.size.pixelCount > Self.longDecodePixels
    return try await run(
      "\(plan)" + (plan.isTolerant ? ", as far as it can be read" : ""), bytes: plan.predictedBytes,
      isReserved: isReserved, of: body, for: job
    ) { [self, request] cancellation in
      var request = request
      if isIndexed { request.index = indexes.index(of: job.source.key) }
      let made = pixels(of: body, request, isLong: isLong, cancellation)
      if isIndexed, let index = made.index { indexes.keep(index, of: job.source.key) }
      return finish(made, request, of: body, for: job, cancellation)
    }
  }

  /// Makes all the variants from the preview; nil if it does not match the image.
  func decode(
    _ preview: PreviewPlan, _ variants: [Variant], _ probe: ImageProbe, of body: SourceBody, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded? {
    var request = request(probe.format, variants, probe, of: body, for: job)
    var options = PlanOptions(memoryBudget: preview.predictedBytes)
    (options.isBodyWhole, options.readsPreview) = (body.isComplete, true)
    request.options = options
    let decoded = try await run(
      "embedded preview, \(preview.plan)", bytes: preview.predictedBytes, of: body, for: job
    ) { [self, request] cancellation in
      let made = pixels(of: body, request, cancellation)
      return finish(made, request, preview: preview.kind, of: body, for: job, cancellation)
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
    var request = request(format, variants, nil, of: body, for: job)
    request.mostBytes = min(request.mostBytes, memory.capacity)
    // The helper's memory is reserved first, so that nothing is waited for while the thumbnails' memory is held.
    var room: WeightedSemaphore.Reservation?
    var bytes = request.mostBytes + (format.isReadByPath ? body.bytes.count : 0)
    switch helperMemory {
    case .beside: break
    case .limited(let helperMemory):
      do throws(WeightedSemaphore.Failure) {
        room = try await helperMemory.reserve(most, priority: job.priority)
      } catch {
        throw .cancelled
      }
    case .budget: bytes = min(bytes + most, memory.capacity)
    }
    defer { room?.release() }
    let sizes = variants.map { "\($0.size)" }.joined(separator: ", ")
    return try await run(
      "\(format.rawValue) in a helper → \(sizes)", bytes: bytes, of: body, for: job
    ) { [self, request] cancellation in
      var made = pixels(of: body, request, cancellation)
      if let size = made.size {
        made.results = made.results.map { admitted($0, of: size, request, job.policy.options.strangersPixels) }
      }
      return finish(made, request, of: body, for: job, cancellation)
    }
  }

  private func request(
    _ format: ImageFormat, _ variants: [Variant], _ probe: ImageProbe?, of body: SourceBody, for job: JobContext
  ) -> HelperRequest {
    var request = HelperRequest(format, variants, limits: job.policy.limits, probe: probe)
    request.acceptsDamage = configuration.damaged == .accept
    request.site = job.source.site.map { site in body.sender.map { "\(site) from \($0)" } ?? site }
    return request
  }

  /// Runs a decode on a worker, as soon as memory for it is free.
  ///
  /// - Parameter isReserved: Whether the caller holds the reservation for these bytes.
  func run(
    _ plan: String, bytes: Int, isReserved: Bool = false, of body: SourceBody? = nil, for job: JobContext,
    _ decode: @escaping @Sendable (CancellationFlag) -> [RenderedVariant]
  ) async throws(ThumbnailError) -> Decoded {
    let asked = ContinuousClock.now
    let reservation = isReserved ? nil : try await reserve(bytes, of: body?.bytes, for: job)
    defer { reservation?.release() }
    monitor.send(job.source, .planned(description: plan, reservedBytes: bytes))
    let decoded = try await work(for: job) { [spare] cancellation in
      let started = ContinuousClock.now
      let results = spare.counting { decode(cancellation) }
      return Decoded(results: results, plan: plan, waited: started - asked, duration: .now - started)
    }
    monitor.add(1, to: \.decodes)
    return decoded
  }

  /// Runs blocking codec work on a worker thread.
  func work<Value: Sendable>(
    for job: JobContext, _ task: @escaping @Sendable (CancellationFlag) -> Value
  ) async throws(ThumbnailError) -> Value {
    do {
      return try await workers.run(priority: job.priority, task)
    } catch {
      throw .cancelled
    }
  }

  /// The pixels of the thumbnails, on a worker.
  private func pixels(
    of body: SourceBody, _ request: HelperRequest, isLong: Bool = false, _ cancellation: CancellationFlag
  ) -> DecodedImage {
    let image = body.container?.bytes ?? body.bytes
    guard let helpers else {
      let worker = DecodeWorker(spare, cancellation)
      return isLong ? Self.givingWay { worker.decode(image, request) } : worker.decode(image, request)
    }
    var request = request
    request.hasSpareProcessor = request.canUseTwoProcessors && spare.take()
    defer { if request.hasSpareProcessor { spare.giveBack() } }
    return helpers.decode(image, request, cancellation: cancellation)
  }

  /// The thumbnails of these pixels, on a worker.
  private func finish(
    _ made: DecodedImage, _ request: HelperRequest, preview: UsedPreview? = nil, of body: SourceBody,
    for job: JobContext, _ cancellation: CancellationFlag
  ) -> [RenderedVariant] {
    let source = SourceDescription(
      size: request.probe?.size ?? made.size ?? PixelSize(0, 0), format: request.format, byteCount: body.bytes.count,
      preview: body.container == nil ? preview : .camera)
    return ThumbnailFinisher(
      source: source, processors: configuration.processors, makesMicroThumbnails: job.makesMicroThumbnails
    ).finish(made.results, cancellation: cancellation)
  }

  /// A helper's result for an image whose size was not known before, unless enlarging it or putting it on a canvas
  /// takes more than the reserved memory, or than strangers may request.
  private func admitted(
    _ made: Rendered<ThumbnailRaster>, of size: PixelSize, _ request: HelperRequest, _ strangersPixels: Int?
  ) -> Rendered<ThumbnailRaster> {
    let geometry = ThumbnailGeometry(source: size, variant: made.variant, isDrawing: request.format.isDrawing)
    let needed = HelperRequest.bytesPerPixel * geometry.output.pixelCount
    if case .failure = made.result { return made }
    if let strangersPixels, !geometry.isForStrangers(strangersPixels) {
      return Rendered(variant: made.variant, result: .failure(.notForStrangers(mostPixels: strangersPixels)))
    }
    guard needed > request.mostBytes else { return made }
    return Rendered(
      variant: made.variant, result: .failure(.exceedsMemoryBudget(needed: needed, budget: request.mostBytes)))
  }

  /// Does long work on a thread of its own, with a lower priority than other decodes, and waits for it.
  static func givingWay<Value>(_ body: @escaping @Sendable () -> Value) -> Value {
    let result = Handover<Value>()
    let end = DispatchSemaphore(value: 0)
    let hasStarted = SystemThread.start(name: "thumbnailer.long", stackBytes: 2 << 20) {
      // Twice: it has a ninth of the time of another decode.
      for _ in 0..<2 { SystemThread.giveWay() }
      result.value = body()
      Codec.threadWillEnd()
      end.signal()
    }
    if hasStarted { end.wait() }
    return result.value ?? body()
  }

  private final class Handover<Value>: @unchecked Sendable {
    // Safety: it is set before the thread signals its end, and read after that.
    var value: Value?
  }
}

extension ImageSource {
  /// See `HelperRequest.site`: a host, or the site of a program's loader.
  fileprivate var site: String? {
    switch origin {
    case .web: HostName(of: url).map { "host \($0.host)" }
    case .userFile: ""
    case .loader(let loader): loader.site.map { "site \($0)" }
    }
  }
}
