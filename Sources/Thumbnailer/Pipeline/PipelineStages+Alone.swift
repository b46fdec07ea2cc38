import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// The way of a picture whose decode takes more than all decodes may take together.
extension PipelineStages {
  /// Carries out such a plan while nothing else is decoded and no further body comes, in memory that is really free: in
  /// a helper where there is one, else in process.
  func decodeAlone(
    _ plan: DecodePlan, _ variants: [Variant], of source: ImageSource, from body: SourceBody, priority: PriorityControl
  ) async throws(ThumbnailError) -> Decoding {
    let decoding = try await reserve(decodes.capacity, of: body.bytes, priority: priority)
    defer { decoding.release() }
    // Whoever holds the rest of it waits for nothing that is held here.
    let bodies = bodyMemory.reserveFree()
    defer { bodies.release() }
    switch try await placeAlone(
      plan.predictedBytes, keepingFree: bodyMemory.capacity - bodies.bytes, priority: priority)
    {
    case (.helper, let helpers?):
      // A helper gets whole files only.
      guard body.isComplete else { return .ended(.needsWholeBody) }
      return .ended(
        try await carryOut(
          variants, of: source, from: body, format: plan.probe.format, in: helpers, reserved: plan.predictedBytes,
          patience: Self.patience, priority: priority))
    default:
      return try await carryOut(plan, of: source, from: body, priority: priority)
    }
  }

  /// How many times the helper's deadline such a picture may take on the clock. Its decoder is trusted: in process it has
  /// no deadline at all.
  private static let patience = 6

  /// Finds where so many bytes are free, and `kept` bytes more: what the bodies on their way may still fill.
  ///
  /// - Throws: `.memoryUnavailable` where they are not at the moment.
  private func placeAlone(
    _ bytes: Int, keepingFree kept: Int, priority: PriorityControl
  ) async throws(ThumbnailError) -> (DecodeAdmission.Place, HelperPool?) {
    func free() -> Int { configuration.freeMemory().map { max(0, $0 - kept) } ?? .max / 2 }
    if let place = admission.place(for: bytes, free: free()) { return (place, helpers) }
    // What earlier decodes have left in the heap, and helpers that wait for a picture, hold memory, too.
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
