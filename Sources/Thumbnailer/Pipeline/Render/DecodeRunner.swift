import DecodeSandbox
import Foundation
import HTTPSemantics
import ImageCodec
import Synchronization
import ThumbnailCore

/// Runs decodes on worker threads, in memory from their share of the budget: in helper processes, or in process where
/// nothing is isolated. Only pixels come of that; they are encoded here, in either case.
final class DecodeRunner: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let admission: DecodeAdmission
  /// The share of the memory budget for all decodes together.
  let memory: WeightedSemaphore
  /// The share of the memory budget for bodies.
  let bodyMemory: WeightedSemaphore
  /// The source of the memory of a decode without a plan.
  let helperMemory: HelperMemory
  /// The turns of clients.
  let turns: DecodeTurns
  /// The threads for codec work and for opening files.
  let workers: WorkerPool
  /// The threads that make thumbnails of files one after the other, and wait for memory. `workers` does not.
  let lanes: WorkerPool
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
    // waits for that. A lane does both; a second one may wait for a slow disk, or be another conversion's.
    let pool = { (name: String) in
      WorkerPool(
        name: name, threads: isInProcess ? configuration.jobs : 2 * configuration.jobs,
        givesWay: configuration.decodesGiveWay
      ) { Codec.threadWillEnd() }
    }
    (workers, lanes) = (pool("thumbnailer.codec"), pool("thumbnailer.lane"))
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

  /// The most that a decode has before it is planned: so all workers have room at once, and a stranger's no more than
  /// half.
  var mostUnplanned: Int { min(admission.share, memory.capacity / max(2, configuration.jobs)) }

  /// The decode of an image. Until the helper has planned it, it has what such images usually take.
  func decode(_ variants: [Variant], _ probe: ImageProbe, of body: SourceBody, for job: JobContext) -> Decode {
    var request = request(probe.format, variants, probe, of: body, for: job)
    let bytes = min(probe.usualMemory(for: variants), mostUnplanned)
    (request.terms.memory, request.terms.share, request.terms.most) = (bytes, admission.share, admission.most)
    (request.terms.part, request.terms.previews) = (body.part, body.previews)
    request.terms.isCutOnly = job.policy.options.isCutOnly
    return Decode(request: request, bytes: bytes)
  }

  /// The decode of an image whose header only a helper reads. The helper's memory has its own limit: only the
  /// thumbnails' bytes count against the budget, unless a cgroup has no room for a helper besides it.
  func decode(
    _ variants: [Variant], of body: SourceBody, unplanned format: ImageFormat, for job: JobContext
  ) -> Decode {
    var request = request(format, variants, nil, of: body, for: job)
    request.mostBytes = min(request.mostBytes, memory.capacity)
    var bytes = request.mostBytes + (format.isReadByPath ? body.bytes.count : 0)
    if case .budget = helperMemory {
      bytes = min(bytes + HelperMemory.bytes(configuration.isolation), memory.capacity)
    }
    return Decode(request: request, bytes: bytes)
  }

  private func request(
    _ format: ImageFormat, _ variants: [Variant], _ probe: ImageProbe?, of body: SourceBody, for job: JobContext
  ) -> HelperRequest {
    var request = HelperRequest(format, variants, limits: job.policy.limits, probe: probe)
    request.terms.acceptsDamage = configuration.damaged == .accept
    request.site = job.source.site.map { site in body.sender.map { "\(site) from \($0)" } ?? site }
    return request
  }

  /// Carries out a decode on a worker, in memory that is reserved for it.
  ///
  /// - Parameter meanwhile: What this thread does while it waits for a helper, if it has not done it already.
  func carryOut(
    _ decode: Decode, of body: SourceBody, for job: JobContext, _ cancellation: CancellationFlag,
    meanwhile: () -> Void = {}
  ) -> Decoded {
    var watch = Stopwatch()
    return spare.counting {
      let made = pixels(decode, of: body, for: job, cancellation) { watch.pause(meanwhile) }
      if let need = made.need { return .needs(need) }
      var (plan, planBytes) = (made.plan, made.planBytes)
      if decode.isUnplanned {
        let sizes = decode.request.variants.map { "\($0.size)" }.joined(separator: ", ")
        (plan, planBytes) = ("\(decode.request.format.rawValue) in a helper → \(sizes)", decode.bytes)
      }
      if !plan.isEmpty { monitor.send(job.source, .planned(description: plan, reservedBytes: planBytes)) }
      monitor.add(1, to: \.decodes)
      return .made(made, plan: plan, duration: watch.time)
    }
  }

  /// Runs blocking codec work on a worker thread.
  func work<Value: Sendable>(
    for job: JobContext, _ task: @escaping @Sendable (CancellationFlag) throws(ThumbnailError) -> Value
  ) async throws(ThumbnailError) -> Value {
    try await workers.run(orThrow: .cancelled, priority: job.priority, task)
  }

  /// The pixels of the thumbnails.
  private func pixels(
    _ decode: Decode, of body: SourceBody, for job: JobContext, _ cancellation: CancellationFlag,
    meanwhile: () -> Void
  ) -> DecodedImage {
    var request = decode.request
    let probe = request.probe
    // The key of a file identifies its version; the key of an address does not.
    let isIndexed =
      probe?.mayUseIndex(for: request.variants) == true && body.isLocalFile && !job.policy.bypassesCaches
    if isIndexed { request.index = indexes.index(of: job.source.key) }
    var made: DecodedImage
    request.hasSpareProcessor = request.canUseTwoProcessors && spare.take()
    defer { if request.hasSpareProcessor { spare.giveBack() } }
    if let helpers {
      made = helpers.decode(body.bytes, request, cancellation: cancellation, meanwhile: meanwhile)
    } else {
      made = DecodeWorker(cancellation).decode(body.bytes, request)
    }
    if isIndexed, let index = made.index { indexes.keep(index, of: job.source.key) }
    if decode.isUnplanned, let size = made.size {
      made.results = made.results.map { admitted($0, of: size, request, job.policy.options.strangersPixels) }
    }
    return made
  }

  /// The thumbnails of these pixels.
  func finish(
    _ made: DecodedImage, _ decode: Decode, of body: SourceBody, _ cancellation: CancellationFlag
  ) -> [RenderedVariant] {
    let probe = decode.request.probe
    let source = SourceDescription(
      size: probe?.size ?? made.size ?? PixelSize(0, 0), format: decode.request.format, byteCount: body.bytes.count,
      preview: probe?.isRAW == true ? .camera : made.usesPreview ? .checked : nil)
    let finisher = ThumbnailFinisher(
      source: source, processors: configuration.processors, makesPlaceholders: configuration.makesPlaceholders)
    return spare.counting { finisher.finish(made.results, cancellation: cancellation) }
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
