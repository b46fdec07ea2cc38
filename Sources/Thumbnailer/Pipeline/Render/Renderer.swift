import ImageCodec
import Synchronization
import ThumbnailCore

/// Makes thumbnails from a body: from its preview, or from the image, all variants from one decode.
struct Renderer: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let runner: DecodeRunner
  let monitor: PipelineMonitor

  /// Makes all the variants, as soon as memory for that is free.
  ///
  /// - Throws: Errors that concern all variants, such as an image beyond the limits.
  func render(
    _ variants: [Variant], from body: SourceBody, for job: JobContext
  ) async throws(ThumbnailError) -> Rendering {
    let limits = job.policy.limits
    let header: Result<ImageProbe, CodecError>
    if let known = body.header {
      header = known
    } else {
      header = try await runner.work(for: job) { [bytes = body.bytes] _ in
        Result { () throws(CodecError) in try ImageCodec.probe(bytes, limits: limits) }
      }
    }
    if case .failure(let refusal) = header, body.admitsUnsafe, let format = refusal.helperFormat {
      let decoded = try await runner.decode(variants, of: body, unplanned: format, for: job)
      return try finish(decoded, of: body, for: job)
    }
    var probe = try mapped { () throws(CodecError) in try header.get() }
    var body = body
    if probe.isRAW {
      if let ranges = RAWPreview.neededRanges(for: variants, of: probe), !body.contains(ranges) {
        return .again(.withWholeBody)
      }
      let found = try await runner.work(for: job) { [probe, bytes = body.bytes] _ in
        Result { () throws(CodecError) in try RAWPreview(variants, of: probe, in: bytes, limits: limits) }
      }
      // The others may be in parts that were not downloaded.
      if body.parts != nil, (try? found.get().hasEnd) != true { return .again(.withWholeBody) }
      let preview = try mapped { () throws(CodecError) in try found.get() }
      (body, probe) = (body.replaced(by: preview, of: probe), preview.probe)
    }
    if let most = job.policy.options.strangersPixels {
      let fitting = variants.filter { ThumbnailGeometry(source: probe.size, variant: $0).isForStrangers(most) }
      if fitting.count < variants.count {
        let refused = Set(variants).subtracting(fitting).map { RenderedThumbnail($0, .failure(.tooManyPixels(most))) }
        if fitting.isEmpty { return .done(refused, plan: nil) }
        return try await render(fitting, from: body, for: job).adding(refused)
      }
    }
    return try await render(variants, probe, from: body, for: job)
  }

  /// Makes the variants that there is memory for.
  private func render(
    _ variants: [Variant], _ probe: ImageProbe, from body: SourceBody, for job: JobContext
  ) async throws(ThumbnailError) -> Rendering {
    var (affordable, overBudget) = (variants, [RenderedThumbnail]())
    var plan = Result { () throws(CodecError) in try self.plan(variants, probe, of: body) }
    if case .failure = plan {
      (affordable, overBudget) = try sort(variants, probe, of: body)
      if affordable.isEmpty { return .done(overBudget, plan: nil) }
      plan = Result { () throws(CodecError) in try self.plan(affordable, probe, of: body) }
    }
    if overBudget.isEmpty, let made = try await renderFromPreview(variants, probe, of: body, for: job) { return made }
    do throws(ThumbnailError) {
      let chosen = try mapped { () throws(CodecError) in try plan.get() }
      return try await carryOut(chosen, affordable, of: body, for: job).adding(overBudget)
    } catch {
      guard case .memoryUnavailable = error else { throw error }
      // Variants that need less memory are not delayed by the others.
      let concurrent = affordable.filter { variant in
        (try? self.plan([variant], probe, of: body)).map { $0.predictedBytes <= runner.admission.share } ?? false
      }
      if concurrent.isEmpty || concurrent.count == affordable.count { throw error }
      overBudget += Set(affordable).subtracting(concurrent).map { RenderedThumbnail($0, .failure(error)) }
      return try await render(concurrent, probe, from: body, for: job).adding(overBudget)
    }
  }

  /// Makes all the variants from the preview; nil if it does not suffice for all.
  private func renderFromPreview(
    _ variants: [Variant], _ probe: ImageProbe, of body: SourceBody, for job: JobContext
  ) async throws(ThumbnailError) -> Rendering? {
    guard
      let preview = PreviewPlan(
        variants, probe: probe, memoryBudget: runner.admission.share, previews: body.previews,
        isBodyWhole: body.isComplete),
      body.contains(preview.preview.neededRanges)
    else { return nil }
    let decoded = try await runner.decode(preview, variants, probe, of: body, for: job)
    try body.checkUnchanged()
    guard let decoded, body.parts == nil || decoded.results.allSatisfy({ (try? $0.result.get()) != nil }) else {
      return .again(.withoutPreview)
    }
    return try finish(decoded, of: body, for: job)
  }

  /// Carries out a plan, alone if it takes too much memory to run beside others. No memory is held afterwards.
  private func carryOut(
    _ plan: DecodePlan, _ variants: [Variant], of body: SourceBody, for job: JobContext
  ) async throws(ThumbnailError) -> Rendering {
    guard body.isEnough(for: plan) else { return .again(.withWholeBody) }
    if job.policy.options.strangersPixels != nil, plan.predictedBytes > runner.memory.capacity / 2 {
      throw .invalidRequest(reason: "its decode takes too much memory: ask for a smaller one, or sign the address")
    }
    let reservation =
      plan.predictedBytes <= runner.memory.capacity
      ? nil : try await runner.reserveAlone(plan.predictedBytes, of: body.bytes, for: job)
    defer { reservation?.release() }
    var decoded = try await runner.decode(plan, variants, of: body, isReserved: reservation != nil, for: job)
    try body.checkUnchanged()
    if let retry = retry(after: decoded, of: body) { return .again(retry) }
    if configuration.damaged == .accept {
      try await salvage(&decoded, of: body, plan.probe, isReserved: reservation != nil, for: job)
    }
    return try finish(decoded, of: body, for: job)
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

  /// Decodes the readable part of a damaged image again for these variants. A variant that fails again keeps its first
  /// error.
  private func salvage(
    _ decoded: inout Decoded, of body: SourceBody, _ probe: ImageProbe, isReserved: Bool, for job: JobContext
  ) async throws(ThumbnailError) {
    let damaged = decoded.results.filter(\.isOfDamagedImage).map(\.variant)
    guard !damaged.isEmpty,
      let plan = try? DecodePlan.make(
        probe: probe, bodyLength: body.bytes.count, variants: damaged,
        memoryBudget: isReserved ? runner.admission.most : runner.admission.share, isTolerant: true,
        mayReadCoefficients: false)
    else { return }
    let second = try await runner.decode(plan, damaged, of: body, isReserved: isReserved, for: job)
    decoded.results = Downsampler.salvaging(decoded.results) { _ in second.results }
  }

  /// The result of any decode in the pipeline's own types.
  private func finish(
    _ decoded: Decoded, of body: SourceBody, for job: JobContext
  ) throws(ThumbnailError) -> Rendering {
    try body.checkUnchanged()
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
