import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// The way of a picture that is decoded in a helper process.
extension PipelineStages {
  /// Where a picture is decoded.
  enum Reading {
    case inProcess(ImageProbe)
    case inHelper(ImageFormat, HelperPool)
  }

  /// Whether a source's picture may be of a format that only a helper reads.
  func admitsForeign(_ source: ImageSource) -> Bool {
    configuration.isolation.admitsUnsafe(isUserFile: source.isUserFile)
  }

  /// Decides where a picture is decoded from what our own reader found in its header.
  func reading(_ header: Result<ImageProbe, CodecError>, source: ImageSource) throws(ThumbnailError) -> Reading {
    switch header {
    case .success(let probe):
      if let helpers, configuration.isolation.formats == .all { return .inHelper(probe.format, helpers) }
      return .inProcess(probe)
    case .failure(let error):
      if let helpers, admitsForeign(source), let format = ForeignFormat.candidate(after: error) {
        return .inHelper(format, helpers)
      }
      throw ThumbnailError(error, of: configuration)
    }
  }

  /// Has all the variants made in a helper. The helper's memory has its own limit: only the thumbnails' own bytes count
  /// against the budget, unless a control group has no room for a helper beside it.
  func render(
    _ variants: [Variant], of source: ImageSource, from body: SourceBody, format: ImageFormat, in helpers: HelperPool,
    priority: PriorityControl
  ) async throws(ThumbnailError) -> Rendering {
    let thumbnails = mostBytes(of: variants)
    let most = HelperMemory.bytes(configuration.isolation)
    // The helper's room first: who has room for the thumbnails waits for nothing more.
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

  /// Has all the variants made in a helper, for which `reserved` bytes are reserved.
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

  /// The most bytes that the thumbnails may have which a helper sends.
  private func mostBytes(of variants: [Variant]) -> Int {
    min(ResponseRules.mostBytes(for: variants), decodes.capacity)
  }
}
