import ImageCodec
import Synchronization
import ThumbnailCore

/// Makes thumbnails from a body, all variants from one decode, which a helper plans.
///
/// One visit to a worker opens the file, reads the header and decodes. An image that takes more memory than is free at
/// that moment waits for it between two visits.
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
    var next: Next

    enum Next: Sendable {
      /// All is done.
      case done(Rendering)
      /// A decode that waits for memory.
      case decode(Decode)
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
    var progress = try await runner.work(for: job) { [self, body] cancellation throws(ThumbnailError) in
      let waited = .now - asked
      var body = body
      let isOpen = body.isOpen
      try body.open()
      if !isOpen, !isUpToDate() { return Progress(body: body, next: .done(.requestsChanged)) }
      var progress = try begin(variants, of: body, for: job)
      if cancellation.isSet { throw .cancelled }
      if case .decode(let decode) = progress.next, let reservation = runner.reserveNow(decode, for: job) {
        try make(decode, in: reservation, &progress, waited: waited, for: job, cancellation)
      }
      return progress
    }
    body = progress.body
    while true {
      switch progress.next {
      case .done(let rendering): return rendering
      case .decode(let decode):
        let asked = ContinuousClock.now
        let reservation: DecodeReservation
        do throws(ThumbnailError) {
          reservation = try await runner.reserve(decode, of: progress.body.bytes, for: job)
        } catch {
          progress.next = .decode(try leavingOut(decode, after: error))
          continue
        }
        progress = try await runner.work(for: job) { [self, progress] cancellation throws(ThumbnailError) in
          var progress = progress
          try make(decode, in: reservation, &progress, waited: .now - asked, for: job, cancellation)
          return progress
        }
        body = progress.body
      }
    }
  }

  /// Makes the pixels of a whole file on the calling thread, which waits for memory.
  ///
  /// - Parameter meanwhile: What it does while it waits, if it has not done it already.
  /// - Returns: What encodes them.
  func renderHere(
    _ variants: [Variant], from body: SourceBody, for job: JobContext, _ cancellation: CancellationFlag,
    meanwhile: () -> Void
  ) throws(ThumbnailError) -> Encoding {
    var body = body
    try body.open()
    var progress = try begin(variants, of: body, for: job)
    while case .decode(let decode) = progress.next, !cancellation.isSet {
      var (reservation, waited) = (runner.reserveNow(decode, for: job), Duration.zero)
      if reservation == nil {
        // It has memory.
        meanwhile()
        let asked = ContinuousClock.now
        do throws(ThumbnailError) {
          reservation = try runner.reserveHere(decode, of: progress.body.bytes, for: job, cancellation)
        } catch {
          progress.next = .decode(try leavingOut(decode, after: error))
          continue
        }
        waited = .now - asked
      }
      if let reservation,
        let encoding = try carryOut(
          decode, in: reservation, &progress, waited: waited, for: job, cancellation, meanwhile: meanwhile)
      {
        return encoding
      }
    }
    guard case .done(let rendering) = progress.next, !cancellation.isSet else { throw .cancelled }
    return { rendering }
  }

  /// Reads the header of an open body.
  private func begin(
    _ variants: [Variant], of body: SourceBody, for job: JobContext
  ) throws(ThumbnailError) -> Progress {
    var body = body
    let header = body.readHeader(limits: job.policy.limits)
    if case .failure(let refusal) = header, body.admitsUnsafe, let format = refusal.helperFormat {
      return Progress(body: body, next: .decode(runner.decode(variants, of: body, unplanned: format, for: job)))
    }
    let probe = try header.mapError { ThumbnailError($0, of: configuration) }.get()
    var (fitting, refused): ([Variant], [RenderedThumbnail]) = (variants, [])
    if let most = job.policy.options.strangersPixels {
      fitting = variants.filter { ThumbnailGeometry(source: probe.size, variant: $0).isForStrangers(most) }
      refused = Set(variants).subtracting(fitting).map { RenderedThumbnail($0, .failure(.tooManyPixels(most))) }
      if fitting.isEmpty { return Progress(body: body, next: .done(.done(refused, plan: nil))) }
    }
    var decode = runner.decode(fitting, probe, of: body, for: job)
    decode.refused = refused
    return Progress(body: body, next: .decode(decode))
  }

  /// The decode beside others after there was no memory for it alone: its variants that need less are not delayed by
  /// the others.
  ///
  /// - Throws: The error, if it is not about memory, or of a decode beside others.
  private func leavingOut(_ decode: Decode, after error: ThumbnailError) throws(ThumbnailError) -> Decode {
    guard case .memoryUnavailable = error, decode.shortage == nil, decode.request.variants.count > 1
    else { throw error }
    var less = decode
    (less.shortage, less.request.terms.most) = (error, decode.request.terms.share)
    (less.request.patience, less.grants) = (1, -1)
    less.grant(runner.mostUnplanned)
    return less
  }

  /// A preview, the image, another reader and what salvages it take more, one after the other.
  private static let mostGrants = 4

  /// Carries out a decode, and encodes what comes of it.
  private func make(
    _ decode: Decode, in reservation: DecodeReservation, _ progress: inout Progress, waited: Duration,
    for job: JobContext, _ cancellation: CancellationFlag
  ) throws(ThumbnailError) {
    defer { reservation.release() }
    let encoding = try carryOut(decode, in: reservation, &progress, waited: waited, for: job, cancellation) {}
    if let encoding { progress.next = .done(try encoding()) }
  }

  /// Encodes the pixels of a decode, in its memory, which is returned after the call or when this is dropped.
  typealias Encoding = () throws(ThumbnailError) -> Rendering

  /// Carries out a decode. What it needs besides, as its plan shows, is granted if it is free.
  ///
  /// - Returns: Nil if there are no pixels: what is next stands in `progress`.
  private func carryOut(
    _ decode: Decode, in reservation: DecodeReservation, _ progress: inout Progress, waited: Duration,
    for job: JobContext, _ cancellation: CancellationFlag, meanwhile: () -> Void
  ) throws(ThumbnailError) -> Encoding? {
    let decoded = runner.carryOut(decode, of: progress.body, for: job, cancellation, meanwhile: meanwhile)
    try progress.body.checkUnchanged()
    switch decoded {
    case .made(let made, let plan, let duration):
      if made.results.contains(where: \.isOfCrash) {
        // Perhaps of a preview of wrong parts, or of what is read on beyond the damage.
        if progress.body.part != nil, progress.body.previews != .off,
          [.heif, .avif].contains(decode.request.format)
        {
          progress.next = .done(.needsBodyOfImage)
          return nil
        }
        if decode.request.terms.acceptsDamage, !decode.isUnplanned {
          var strict = decode
          strict.request.terms.acceptsDamage = false
          return try carryOut(
            strict, in: reservation, &progress, waited: waited, for: job, cancellation, meanwhile: meanwhile)
        }
      }
      return { [self, body = progress.body] () throws(ThumbnailError) in
        defer { reservation.release() }
        let results = runner.finish(made, decode, of: body, cancellation)
        let tried = results.filter { !$0.isBeyondMemory }
        if !tried.isEmpty {
          let encoding = tried.reduce(.zero) { $0 + $1.encoding }
          monitor.send(
            job.source,
            .rendered(
              tried.map(\.variant), waited: decode.waited + waited, duration: duration + encoding, encoding: encoding))
        }
        return try finish(results, plan, decode, of: body)
      }
    case .needs(.wholeBody): progress.next = .done(.needsWholeBody)
    case .needs(.bodyOfImage): progress.next = .done(.needsBodyOfImage)
    case .needs(.refusal(let refusal)):
      if case .exceedsMemoryBudget = refusal, let shortage = decode.shortage { throw shortage }
      throw ThumbnailError(refusal, of: configuration)
    case .needs(.memory(let bytes)):
      if job.policy.options.strangersPixels != nil, bytes > runner.memory.capacity / 2 {
        throw .invalidRequest(reason: "its decode takes too much memory: ask for a smaller one, or sign the address")
      }
      if decode.grants == Self.mostGrants {
        throw ThumbnailError(.helperFailed(.nonsense(detail: "it always needs more memory")), of: configuration)
      }
      var planned = decode
      planned.grant(bytes)
      planned.waited += waited
      if bytes > runner.memory.capacity { planned.request.patience = DecodeAdmission.patience }
      progress.next = .decode(planned)
      reservation.release()
      guard let memory = runner.reserveNow(planned, for: job) else { return nil }
      return try carryOut(
        planned, in: memory, &progress, waited: .zero, for: job, cancellation, meanwhile: meanwhile)
    }
    return nil
  }

  /// The results of a decode in the pipeline's own types.
  private func finish(
    _ results: [RenderedVariant], _ plan: String, _ decode: Decode, of body: SourceBody
  ) throws(ThumbnailError) -> Rendering {
    if let shortage = decode.shortage, results.allSatisfy(\.isBeyondMemory) { throw shortage }
    let made = results.map { made in
      let result = made.result.map { body.completing($0) }.mapError { error in
        made.isBeyondMemory
          ? decode.shortage ?? ThumbnailError(error, of: configuration)
          : ThumbnailError(error, of: configuration)
      }
      return RenderedThumbnail(made.variant, result)
    }
    return .done(made + decode.refused, plan: plan.isEmpty ? nil : plan)
  }
}

extension Rendered {
  /// Whether there was no memory for it.
  fileprivate var isBeyondMemory: Bool { if case .failure(.exceedsMemoryBudget) = result { true } else { false } }
  /// Whether its helper has crashed.
  fileprivate var isOfCrash: Bool { if case .failure(.helperFailed(.crashed)) = result { true } else { false } }
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
