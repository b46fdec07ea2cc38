import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// Admits decodes that take more memory than all decodes may take together: while no other runs and no further body
/// arrives, in memory that is really free.
struct LoneDecode: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let admission: DecodeAdmission
  /// The share of the memory budget for bodies.
  let bodyMemory: WeightedSemaphore
  let helpers: HelperPool?
  let runner: DecodeRunner

  /// The wall-clock limit for such an image in a helper, as a multiple of the helper's deadline. Its decoder is
  /// trusted: in process it has no deadline.
  static let patience = 6

  /// Holds back all other decodes, and bodies, until it is released.
  struct Permit: Sendable {
    fileprivate let decodes: DecodeRunner.Reservation
    fileprivate let bodies: WeightedSemaphore.Reservation

    func release() {
      bodies.release()
      decodes.release()
    }
  }

  /// Waits until no other decode runs, and that many bytes are free.
  ///
  /// - Throws: `.memoryUnavailable` if they are not free at the moment.
  func admit(_ bytes: Int, of body: SourceBody, for job: JobContext) async throws(ThumbnailError) -> Permit {
    let decodes = try await runner.reserve(runner.memory.capacity, of: body.bytes, for: job)
    // No deadlock: the holders of the rest do not wait for anything that is held here.
    let bodies = bodyMemory.reserveFree()
    do throws(ThumbnailError) {
      // What arriving bodies may still fill counts as taken.
      try await awaitRoom(for: bytes, keepingFree: bodyMemory.capacity - bodies.permits, for: job)
      return Permit(decodes: decodes, bodies: bodies)
    } catch {
      bodies.release()
      decodes.release()
      throw error
    }
  }

  private func awaitRoom(
    for bytes: Int, keepingFree kept: Int, for job: JobContext
  ) async throws(ThumbnailError) {
    func free() -> Int { configuration.freeMemory().map { max(0, $0 - kept) } ?? .max / 2 }
    if admission.admits(bytes, free: free()) { return }
    // Freed heap memory of earlier decodes and idle helpers take memory too.
    try await runner.work(for: job) { [helpers] _ in
      Codec.returnFreeMemory()
      helpers?.endWaiting()
    }
    if admission.admits(bytes, free: free()) { return }
    throw .memoryUnavailable(
      reason: "decoding takes \(ByteSize(bytes: bytes)), and only \(ByteSize(bytes: free())) of memory are free; "
        + "try again when more is, or raise the limit of the container or machine")
  }
}
