import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// Decoding of an image that takes more memory than all decodes may take together.
extension PipelineStages {
  /// Carries out such a plan while no other decode runs and no further body arrives, in memory that is really free: in
  /// a helper if there is one, else in process.
  func decodeAlone(
    _ plan: DecodePlan, _ variants: [Variant], of source: ImageSource, from body: SourceBody, priority: PriorityControl
  ) async throws(ThumbnailError) -> Decoding {
    let decoding = try await reserve(decodes.capacity, of: body.bytes, priority: priority)
    defer { decoding.release() }
    // No deadlock: the holders of the rest do not wait for anything that is held here.
    let bodies = bodyMemory.reserveFree()
    defer { bodies.release() }
    switch try await placeAlone(
      plan.predictedBytes, keepingFree: bodyMemory.capacity - bodies.permits, priority: priority)
    {
    case (.helper, let helpers?):
      // A helper needs the complete file.
      guard body.isComplete else { return .ended(.needsWholeBody) }
      return .ended(
        try await carryOut(
          variants, of: source, from: body, format: plan.probe.format, in: helpers, reserved: plan.predictedBytes,
          patience: Self.patience, priority: priority))
    default:
      return try await carryOut(plan, of: source, from: body, priority: priority)
    }
  }

  /// The wall-clock limit for such an image, as a multiple of the helper's deadline. Its decoder is trusted: in process
  /// it has no deadline.
  private static let patience = 6

  /// Finds where that many bytes are free, plus `kept` bytes that arriving bodies may still fill.
  ///
  /// - Throws: `.memoryUnavailable` if they are not free at the moment.
  private func placeAlone(
    _ bytes: Int, keepingFree kept: Int, priority: PriorityControl
  ) async throws(ThumbnailError) -> (DecodeAdmission.Place, HelperPool?) {
    func free() -> Int { configuration.freeMemory().map { max(0, $0 - kept) } ?? .max / 2 }
    if let place = admission.place(for: bytes, free: free()) { return (place, helpers) }
    // Freed heap memory of earlier decodes and idle helpers take memory too.
    try await work(priority) { [helpers] _ in
      Codec.returnFreeMemory()
      helpers?.endWaiting()
    }
    if let place = admission.place(for: bytes, free: free()) { return (place, helpers) }
    throw .memoryUnavailable(
      reason: "decoding takes \(ByteSize(bytes: bytes)), and only \(ByteSize(bytes: free())) of memory are free; "
        + "try again when more is, or raise the limit of the container or machine")
  }
}
