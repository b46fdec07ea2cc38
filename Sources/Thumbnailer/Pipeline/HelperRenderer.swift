import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// Renders images in helper processes.
struct HelperRenderer: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let pool: HelperPool
  /// Where the helpers' memory comes from.
  let memory: HelperMemory
  let runner: DecodeRunner

  /// The format of an image that a helper decodes, from the result of our own header parser; nil if it is decoded in
  /// process or refused.
  func format(of header: Result<ImageProbe, CodecError>, _ body: SourceBody) -> ImageFormat? {
    switch header {
    case .success(let probe): configuration.isolation.formats == .all ? probe.format : nil
    case .failure(let error): body.admitsForeign ? HelperOnlyFormat.candidate(after: error) : nil
    }
  }

  /// Makes all the variants, as soon as memory is free. The helper's memory has its own limit: only the thumbnails'
  /// bytes count against the budget, unless a cgroup has no room for a helper besides it.
  func decode(
    _ variants: [Variant], of body: SourceBody, _ format: ImageFormat, for job: JobContext
  ) async throws(ThumbnailError) -> Decoded {
    let most = HelperMemory.bytes(configuration.isolation)
    // The helper's memory is reserved first, so that nothing is waited for while the thumbnails' memory is held.
    var room: WeightedSemaphore.Reservation?
    var reserved = mostBytes(of: variants) + (HelperPool.isCopied(format) ? body.bytes.count : 0)
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
    return try await decode(variants, of: body, format, reserved: reserved, for: job)
  }

  /// Makes all the variants, with `reserved` bytes reserved.
  ///
  /// - Parameter patience: The limit of wall-clock time, as a multiple of the helper's deadline.
  func decode(
    _ variants: [Variant], of body: SourceBody, _ format: ImageFormat, reserved: Int, patience: Int = 1,
    for job: JobContext
  ) async throws(ThumbnailError) -> Decoded {
    let sizes = variants.map { "\($0.size)" }.joined(separator: ", ")
    let plan = "\(format.rawValue) in a helper → \(sizes)"
    let mostBytes = mostBytes(of: variants)
    let (results, duration) = try await runner.run(plan, bytes: reserved, isReserved: true, for: job) {
      [pool, limits = job.policy.limits, bytes = body.bytes, acceptsDamage = configuration.damaged == .accept]
      cancellation in
      pool.render(
        bytes, format: format, variants: variants, limits: limits, mostBytes: mostBytes,
        acceptsDamage: acceptsDamage, patience: patience, cancellation: cancellation)
    }
    return Decoded(results: results, plan: plan, duration: duration)
  }

  /// The most bytes of the thumbnails that a helper may send.
  private func mostBytes(of variants: [Variant]) -> Int {
    min(ResponseRules.mostBytes(for: variants), runner.memory.capacity)
  }
}
