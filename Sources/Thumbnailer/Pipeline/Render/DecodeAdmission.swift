import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// Decides whether a decode may run, by its predicted memory.
///
/// A decode that fits into the decode share of the budget runs beside other decodes. A larger one runs alone, in memory
/// that is free at that moment: within a helper's limit, or in process if the budget is left at its default. Other
/// decodes are refused.
struct DecodeAdmission: Sendable, Equatable {
  /// The most that one decode may take beside others, in bytes.
  let share: Int
  /// The most that one decode may take alone, in bytes. In process it is 0 if the user has set the budget, which then
  /// applies.
  let lone: Int
  /// The bytes that must be free besides the memory of a lone decode.
  let overhead: Int

  /// The wall-clock limit for an image that is decoded alone in a helper, as a multiple of the helper's deadline. Its
  /// decoder is trusted: in process it has no deadline.
  static let patience = 6
  /// An allowance for a helper's own memory, besides the decode.
  static let helperBytes = 16 << 20
  /// The bytes that must stay free besides the prediction, which covers only the decode and has its own reserve
  /// (`DecodeCost.fixed`).
  static let margin = 3 << 20

  init(share: Int, lone: Int, overhead: Int) {
    (self.share, self.lone, self.overhead) = (share, lone, overhead)
  }

  init(_ configuration: ThumbnailPipeline.Configuration, budget: MemoryBudget) {
    let isolation = configuration.isolation
    let inProcess = configuration.chosenMemoryBudget == nil ? DecodeIsolation.standardMemory : 0
    self.init(
      share: isolation.isInProcess ? budget.decodeShare : min(budget.decodeShare, isolation.memoryLimit.bytes),
      lone: isolation.isInProcess ? inProcess : isolation.memoryLimit.bytes,
      overhead: Self.margin + (isolation.isInProcess ? 0 : Self.helperBytes))
  }

  /// The most bytes of any decode, if enough memory is free.
  var most: Int { max(share, lone) }

  /// Whether a decode of this many bytes may run alone while `free` bytes are free.
  func admits(_ bytes: Int, free: Int) -> Bool { bytes <= lone && bytes + overhead <= free }
}

extension ThumbnailPipeline.Configuration {
  /// The most bytes of the decode of one image, if enough memory is free.
  package var largestDecode: Int {
    DecodeAdmission(self, budget: budget).most
  }
}

/// The source of a helper's memory if the cost of the image cannot be predicted.
enum HelperMemory: Sendable {
  /// No cgroup limits it: each helper has its own limit, besides the budget.
  case beside
  /// The cgroup has room for helpers besides the budget: as many at once as this semaphore admits.
  case limited(WeightedSemaphore)
  /// The cgroup has no room: a helper's memory is taken from the budget.
  case budget

  init(_ configuration: ThumbnailPipeline.Configuration, budget: MemoryBudget, cgroupLimit: Int?) {
    guard let cgroupLimit else {
      self = .beside
      return
    }
    let room = cgroupLimit - MemoryBudget.programBytes - configuration.memoryCacheLimit.bytes - budget.total
    self = room >= Self.bytes(configuration.isolation) ? .limited(WeightedSemaphore(capacity: room)) : .budget
  }

  /// The most that a helper takes, in bytes.
  static func bytes(_ isolation: DecodeIsolation) -> Int { isolation.memoryLimit.bytes + DecodeAdmission.helperBytes }
}

/// Memory for a decode, and its turn. They are returned when it is released or its last copy is dropped.
struct DecodeReservation: Sendable {
  fileprivate let memory: WeightedSemaphore.Reservation
  fileprivate let turn: DecodeTurns.Turn?
  /// What holds back bodies while a decode runs alone.
  fileprivate var bodies: WeightedSemaphore.Reservation?

  func release() {
    bodies?.release()
    memory.release()
    turn?.end()
  }
}

extension DecodeRunner {
  /// Waits for memory for a decode, and for the turn of its clients. `body` must be named if its bytes are borrowed from
  /// that memory.
  func reserve(_ bytes: Int, of body: ByteSource?, for job: JobContext) async throws(ThumbnailError)
    -> DecodeReservation
  {
    let turn = try await turns.turn(of: bytes, for: job)
    do throws(WeightedSemaphore.Failure) {
      let held = try await memory.reserve(bytes, holdingLent: body?.isFileInMemory == true, priority: job.priority)
      return DecodeReservation(memory: held, turn: turn)
    } catch {
      throw ThumbnailError(error)
    }
  }

  /// Waits until no other decode runs and that many bytes are really free: for a decode of more memory than all decodes
  /// may take together. Holds back all other decodes, and bodies, until it is released.
  ///
  /// - Throws: `.memoryUnavailable` if they are not free at the moment.
  func reserveAlone(_ bytes: Int, of body: ByteSource, for job: JobContext) async throws(ThumbnailError)
    -> DecodeReservation
  {
    var reservation = try await reserve(memory.capacity, of: body, for: job)
    // No deadlock: the holders of the rest do not wait for anything that is held here.
    let bodies = bodyMemory.reserveFree()
    reservation.bodies = bodies
    // Memory that arriving bodies may still fill counts as taken.
    let kept = bodyMemory.capacity - bodies.permits
    func free() -> Int { configuration.freeMemory().map { max(0, $0 - kept) } ?? .max / 2 }
    if admission.admits(bytes, free: free()) { return reservation }
    // Freed heap memory of earlier decodes and idle helpers take memory too.
    try await work(for: job) { [helpers] _ in
      Codec.returnFreeMemory()
      helpers?.endWaiting()
    }
    if admission.admits(bytes, free: free()) { return reservation }
    throw .memoryUnavailable(
      reason: "decoding takes \(ByteSize(bytes: bytes)), and only \(ByteSize(bytes: free())) of memory are free; "
        + "try again when more is, or raise the limit of the container or machine")
  }
}
