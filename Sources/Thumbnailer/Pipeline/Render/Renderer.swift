import ImageCodec
import Synchronization
import ThumbnailCore

/// Makes thumbnails from a body: from its preview, or from the image, all variants from one decode.
///
/// One visit to a worker opens the file, reads the header, plans and decodes. An image that takes more memory than is
/// free at that moment waits for it between two visits.
final class Renderer: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let runner: DecodeRunner
  let monitor: PipelineMonitor

  init(_ runner: DecodeRunner, monitor: PipelineMonitor) {
    (configuration, self.runner, self.monitor) = (runner.configuration, runner, monitor)
  }

  /// What is known of a body after a visit to a worker, and what is done next.
  private struct Progress: Sendable {
    /// The job's body, opened.
    var body: SourceBody
    /// What is decoded: the body, or the preview in a RAW file.
    var image: SourceBody
    /// The results of variants that are not made.
    var refused: [RenderedThumbnail] = []
    var next: Next

    enum Next: Sendable {
      /// All is done.
      case done(Rendering)
      /// A decode that waits for memory.
      indirect case decode(Decode)
    }
  }

  /// Makes all the variants, as soon as memory for that is free. Opens the body if it is not open yet.
  ///
  /// - Parameter isUpToDate: Whether these are still the variants to make. Asked once, by the visit that opens the body.
  /// - Throws: Errors that concern all variants, such as an image beyond the limits.
  func render(
    _ variants: [Variant], from body: inout SourceBody, for job: JobContext,
    isUpToDate: @escaping @Sendable () -> Bool
  ) async throws(ThumbnailError) -> Rendering {
    let asked = ContinuousClock.now
    var progress = try await visit(for: job) { [self, body] cancellation throws(ThumbnailError) in
      let waited = .now - asked
      var body = body
      let isOpen = body.isOpen
      try body.open()
      if !isOpen, !isUpToDate() { return Progress(body: body, image: body, next: .done(.requestsChanged)) }
      var progress = try begin(variants, of: body, for: job)
      if cancellation.isSet { throw .cancelled }
      if case .decode(let decode) = progress.next, let reservation = runner.reserveNow(decode, for: job) {
        try carryOut(decode, in: reservation, &progress, waited: waited, for: job, cancellation)
      }
      return progress
    }
    body = progress.body
    while true {
      switch progress.next {
      case .done(let rendering): return rendering.adding(progress.refused)
      case .decode(let decode):
        let asked = ContinuousClock.now
        let reservation: DecodeReservation
        do throws(ThumbnailError) {
          reservation = try await runner.reserve(decode, of: progress.image.bytes, for: job)
        } catch {
          try leaveOut(decode, after: error, &progress, for: job)
          continue
        }
        progress = try await visit(for: job) { [self, progress] cancellation throws(ThumbnailError) in
          var progress = progress
          try carryOut(decode, in: reservation, &progress, waited: .now - asked, for: job, cancellation)
          return progress
        }
      }
    }
  }

  /// Works on a worker, which also passes on what is made there.
  private func visit(
    for job: JobContext, _ work: @escaping @Sendable (CancellationFlag) throws(ThumbnailError) -> Progress
  ) async throws(ThumbnailError) -> Progress {
    try await runner.work(for: job) { cancellation in
      Result { () throws(ThumbnailError) in
        let progress = try work(cancellation)
        if case .done(.done(let made, _)) = progress.next, !cancellation.isSet { job.deliver(made) }
        return progress
      }
    }.get()
  }

  /// Reads the header of an open body and plans the decode.
  private func begin(
    _ variants: [Variant], of body: SourceBody, for job: JobContext
  ) throws(ThumbnailError) -> Progress {
    var body = body
    let limits = job.policy.limits
    let header = body.readHeader(limits: limits)
    if case .failure(let refusal) = header, body.admitsUnsafe, let format = refusal.helperFormat {
      let decode = runner.decode(variants, of: body, unplanned: format, for: job)
      return Progress(body: body, image: body, next: .decode(decode))
    }
    var probe = try mapped { () throws(CodecError) in try header.get() }
    var image = body
    func again(_ retry: RenderingRetry) -> Progress { Progress(body: body, image: body, next: .done(.again(retry))) }
    if probe.isRAW {
      if let ranges = RAWPreview.neededRanges(for: variants, of: probe), !body.contains(ranges) {
        return again(.withWholeBody)
      }
      let found = Result { [probe] () throws(CodecError) in
        try RAWPreview(variants, of: probe, in: body.bytes, limits: limits)
      }
      // The others may be in parts that were not downloaded.
      if body.parts != nil, (try? found.get().hasEnd) != true { return again(.withWholeBody) }
      let preview = try mapped { () throws(CodecError) in try found.get() }
      (image, probe) = (body.replaced(by: preview, of: probe), preview.probe)
    }
    var progress = Progress(body: body, image: image, next: .done(.done([], plan: nil)))
    var fitting = variants
    if let most = job.policy.options.strangersPixels {
      fitting = variants.filter { ThumbnailGeometry(source: probe.size, variant: $0).isForStrangers(most) }
      progress.refused = Set(variants).subtracting(fitting).map {
        RenderedThumbnail($0, .failure(.tooManyPixels(most)))
      }
      if fitting.isEmpty { return progress }
    }
    try choose(fitting, probe, &progress, for: job)
    return progress
  }

  /// Chooses how to make the variants that there is memory for.
  private func choose(
    _ variants: [Variant], _ probe: ImageProbe, _ progress: inout Progress, for job: JobContext
  ) throws(ThumbnailError) {
    let body = progress.image
    var affordable = variants
    var plan = Result { () throws(CodecError) in try self.plan(variants, probe, of: body) }
    if case .failure = plan {
      let sorted = try sort(variants, probe, of: body)
      affordable = sorted.affordable
      progress.refused += sorted.overBudget
      if affordable.isEmpty { return progress.next = .done(.done([], plan: nil)) }
      plan = Result { [affordable] () throws(CodecError) in try self.plan(affordable, probe, of: body) }
    }
    if affordable.count == variants.count,
      let preview = PreviewPlan(
        variants, probe: probe, memoryBudget: runner.admission.share, previews: body.previews,
        isBodyWhole: body.isComplete),
      body.contains(preview.preview.neededRanges)
    {
      return progress.next = .decode(runner.decode(preview, variants, probe, of: body, for: job))
    }
    let chosen = try mapped { () throws(CodecError) in try plan.get() }
    guard body.isEnough(for: chosen) else { return progress.next = .done(.again(.withWholeBody)) }
    if job.policy.options.isCutOnly, !chosen.isCut {
      throw .invalidRequest(reason: "all of this picture would have to be decoded for a part of it: ask for all of it")
    }
    if job.policy.options.strangersPixels != nil, chosen.predictedBytes > runner.memory.capacity / 2 {
      throw .invalidRequest(reason: "its decode takes too much memory: ask for a smaller one, or sign the address")
    }
    progress.next = .decode(runner.decode(chosen, affordable, of: body, for: job))
  }

  /// Leaves out the variants that there is no memory for at the moment: those that need less are not delayed by them.
  ///
  /// - Throws: The error, if it is not about memory or there are no others.
  private func leaveOut(
    _ decode: Decode, after error: ThumbnailError, _ progress: inout Progress, for job: JobContext
  ) throws(ThumbnailError) {
    guard case .memoryUnavailable = error, let probe = decode.plan?.probe else { throw error }
    let variants = decode.request.variants
    let concurrent = variants.filter { variant in
      (try? plan([variant], probe, of: progress.image)).map { $0.predictedBytes <= runner.admission.share } ?? false
    }
    if concurrent.isEmpty || concurrent.count == variants.count { throw error }
    progress.refused += Set(variants).subtracting(concurrent).map { RenderedThumbnail($0, .failure(error)) }
    try choose(concurrent, probe, &progress, for: job)
  }

  /// Carries out a decode, and after it what salvages the readable part of a damaged image, if memory is free for that.
  private func carryOut(
    _ decode: Decode, in reservation: DecodeReservation, _ progress: inout Progress, waited: Duration,
    for job: JobContext, _ cancellation: CancellationFlag
  ) throws(ThumbnailError) {
    let image = progress.image
    defer { reservation.release() }
    var decoded = runner.carryOut(decode, of: image, for: job, waited: waited, cancellation)
    if var strict = decode.strict {
      strict.results = Downsampler.salvaging(strict.results) { [decoded] _ in decoded.results }
      decoded = strict
    }
    // A decode that runs alone keeps its memory for the next one, if that takes no more.
    let isAlone = decode.bytes > runner.memory.capacity
    if !isAlone { reservation.release() }
    progress.next = try conclude(decoded, decode, of: image, for: job)
    guard case .decode(let second) = progress.next else { return }
    // A larger one returns the memory and waits for its own.
    if isAlone, second.bytes > decode.bytes { return }
    guard let memory = isAlone ? reservation : runner.reserveNow(second, for: job) else { return }
    try carryOut(second, in: memory, &progress, waited: .zero, for: job, cancellation)
  }

  /// What a decode leads to: its results, another attempt, or a decode of the readable part of a damaged image.
  private func conclude(
    _ decoded: Decoded, _ decode: Decode, of body: SourceBody, for job: JobContext
  ) throws(ThumbnailError) -> Progress.Next {
    try body.checkUnchanged()
    switch decode.method {
    case .unplanned: break
    case .preview:
      let isHandedOver = decoded.results.contains { if case .failure(.handedOver) = $0.result { true } else { false } }
      let isMade = body.parts == nil || decoded.results.allSatisfy { (try? $0.result.get()) != nil }
      if isHandedOver || !isMade { return .done(.again(.withoutPreview)) }
    case .plan(let plan) where decode.strict == nil:
      if let retry = retry(after: decoded, of: body) { return .done(.again(retry)) }
      if let salvage = salvage(decoded, decode, of: body, plan.probe, for: job) { return .decode(salvage) }
    case .plan: break
    }
    return .done(finish(decoded, of: body, for: job))
  }

  /// How to read a body again that could not be read in this way; nil if its results are final.
  private func retry(after decoded: Decoded, of body: SourceBody) -> RenderingRetry? {
    for case .failure(let error) in decoded.results.map(\.result) {
      switch error {
      case .handedOver where body.mayReadCoefficients: return .withoutCoefficients
      // The parts may be wrong or insufficient.
      case .truncated where body.parts != nil, .damaged where body.parts != nil: return .withWholeBody
      // The ends of the scans were seen, but the scans lack data.
      case .truncated where !body.isComplete: return .withWholeBody
      // Salvaging needs the whole body.
      case .damaged where !body.isComplete && configuration.damaged == .accept: return .withWholeBody
      default: break
      }
    }
    return nil
  }

  /// The decode of the readable part of a damaged image, if that is wanted. A variant that fails again keeps its first
  /// error.
  private func salvage(
    _ decoded: Decoded, _ decode: Decode, of body: SourceBody, _ probe: ImageProbe, for job: JobContext
  ) -> Decode? {
    let damaged = decoded.results.filter(\.isOfDamagedImage).map(\.variant)
    let isAlone = decode.bytes > runner.memory.capacity
    guard configuration.damaged == .accept, !damaged.isEmpty,
      let plan = try? DecodePlan.make(
        probe: probe, bodyLength: body.bytes.count, variants: damaged,
        memoryBudget: isAlone ? runner.admission.most : runner.admission.share, isTolerant: true,
        mayReadCoefficients: false)
    else { return nil }
    var second = runner.decode(plan, damaged, of: body, for: job)
    second.request.patience = decode.request.patience
    second.strict = decoded
    return second
  }

  /// The result of any decode in the pipeline's own types.
  private func finish(_ decoded: Decoded, of body: SourceBody, for job: JobContext) -> Rendering {
    let encoding = decoded.results.reduce(.zero) { $0 + $1.encoding }
    monitor.send(
      job.source,
      .rendered(
        decoded.results.map(\.variant), waited: decoded.waited, duration: decoded.duration, encoding: encoding))
    let made = decoded.results.map { made in
      let result = made.result.map { body.completing($0) }
      return RenderedThumbnail(made.variant, result.mapError { ThumbnailError($0, of: configuration) })
    }
    return .done(made, plan: body.container.map { "\($0.description): \(decoded.plan)" } ?? decoded.plan)
  }
}

/// Keeps the row indexes of JPEGs whose parts were requested: those used last, in memory.
///
/// Helpers, which are not trusted, make them. So only helpers of the same file get an index; they compare it with the
/// file, and ignore it if it leads to damage. None is stored, so none outlives a helper that was taken over.
final class RowIndexes: Sendable {
  /// The most that are kept.
  static let most = 64

  /// The index used last is the last.
  private let recent = Mutex<[(key: SourceKey, index: RowIndex)]>([])

  /// The index of an image's file; empty if nothing is known.
  func index(of key: SourceKey) -> RowIndex {
    recent.withLock { recent in
      guard let place = recent.firstIndex(where: { $0.key == key }) else { return RowIndex() }
      recent.append(recent.remove(at: place))
      return recent[recent.count - 1].index
    }
  }

  /// Keeps the index of an image's file.
  func keep(_ index: RowIndex, of key: SourceKey) {
    guard index.bytes.count <= RowIndex.longest else { return }
    recent.withLock { recent in
      recent.removeAll { $0.key == key }
      recent.append((key, index))
      if recent.count > Self.most { recent.removeFirst() }
    }
  }
}
