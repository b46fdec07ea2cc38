import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// Decoding of an image in a helper process.
extension PipelineStages {
  /// The process in which an image is decoded.
  enum Reading {
    case inProcess(ImageProbe)
    case inHelper(ImageFormat, HelperPool)
  }

  /// Whether the source may have a format that only a helper reads.
  func admitsForeign(_ source: ImageSource) -> Bool {
    configuration.isolation.admitsUnsafe(isUserFile: source.isUserFile)
  }

  /// Decides in which process an image is decoded, from the result of our own header parser.
  func reading(_ header: Result<ImageProbe, CodecError>, source: ImageSource) throws(ThumbnailError) -> Reading {
    switch header {
    case .success(let probe):
      if let helpers, configuration.isolation.formats == .all { return .inHelper(probe.format, helpers) }
      return .inProcess(probe)
    case .failure(let error):
      if let helpers, admitsForeign(source), let format = HelperOnlyFormat.candidate(after: error) {
        return .inHelper(format, helpers)
      }
      throw ThumbnailError(error, of: configuration)
    }
  }

  /// Makes all the variants in a helper. The helper's memory has its own limit: only the thumbnails' bytes count
  /// against the budget, unless a cgroup has no room for a helper besides it.
  func render(
    _ variants: [Variant], of source: ImageSource, from body: SourceBody, format: ImageFormat, in helpers: HelperPool,
    priority: PriorityControl
  ) async throws(ThumbnailError) -> Rendering {
    let thumbnails = mostBytes(of: variants)
    let most = HelperMemory.bytes(configuration.isolation)
    // The helper's memory is reserved first, so that nothing is waited for while the thumbnails' memory is held.
    var room: ByteSemaphore.Reservation?
    var reserved = thumbnails
    switch helperMemory {
    case .beside: break
    case .limited(let limiter):
      do throws(ByteSemaphore.Failure) {
        room = try await limiter.reserve(most, priority: priority)
      } catch {
        throw .cancelled
      }
    case .budget: reserved = min(thumbnails + most, decodes.capacity)
    }
    defer { room?.release() }
    let reservation = try await reserve(reserved, of: body.bytes, priority: priority)
    defer { reservation.release() }
    return try await carryOut(
      variants, of: source, from: body, format: format, in: helpers, reserved: reserved, priority: priority)
  }

  /// Makes all the variants in a helper, with `reserved` bytes reserved.
  func carryOut(
    _ variants: [Variant], of source: ImageSource, from body: SourceBody, format: ImageFormat, in helpers: HelperPool,
    reserved: Int, patience: Int = 1, priority: PriorityControl
  ) async throws(ThumbnailError) -> Rendering {
    let bytes = body.bytes
    let limits = limits
    let acceptsDamage = configuration.damaged == .accept
    let mostBytes = mostBytes(of: variants)
    let sizes = variants.map { "\($0.size)" }.joined(separator: ", ")
    let plan = "\(format.rawValue) in a helper → \(sizes)"
    let (results, duration) = try await decode(
      plan, reserved: reserved, source: source, priority: priority
    ) { cancellation in
      helpers.render(
        bytes, format: format, variants: variants, limits: limits, mostBytes: mostBytes,
        acceptsDamage: acceptsDamage, patience: patience, cancellation: cancellation)
    }
    events.send(source, .rendered(variants, duration: duration))
    let made = results.map { ($0.variant, $0.result.mapError { ThumbnailError($0, of: configuration) }) }
    return .done(made, plan: plan)
  }

  /// The most bytes of the thumbnails that a helper may send.
  private func mostBytes(of variants: [Variant]) -> Int {
    min(ResponseRules.mostBytes(for: variants), decodes.capacity)
  }
}
