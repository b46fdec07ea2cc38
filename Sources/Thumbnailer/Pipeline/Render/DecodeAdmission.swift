import DecodeSandbox
import Dispatch
import ImageCodec
import Synchronization
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
  /// The helper's own memory, or what holds back bodies while a decode runs alone.
  fileprivate var other: WeightedSemaphore.Reservation?

  func release() {
    other?.release()
    memory.release()
    turn?.end()
  }
}

extension DecodeRunner {
  /// Reserves what a decode needs, without waiting; nil if it has to wait.
  func reserveNow(_ decode: Decode, for job: JobContext) -> DecodeReservation? {
    let turn = job.clients.isEmpty ? nil : turns.turnNow(of: decode.bytes, for: job)
    guard turn != nil || job.clients.isEmpty else { return nil }
    var room: WeightedSemaphore.Reservation?
    if let rooms = rooms(for: decode) {
      room = rooms.reserveNow(HelperMemory.bytes(configuration.isolation))
      if room == nil { return nil }
    }
    return memory.reserveNow(decode.bytes).map { DecodeReservation(memory: $0, turn: turn, other: room) }
  }

  /// Waits for what a decode needs: with the others if it fits into their memory, else alone.
  func reserve(_ decode: Decode, of body: ByteSource, for job: JobContext) async throws(ThumbnailError)
    -> DecodeReservation
  {
    if !decode.isUnplanned, decode.bytes > memory.capacity {
      return try await reserveAlone(decode.bytes, of: body, for: job)
    }
    // The helper's memory is reserved first, so that nothing is waited for while the thumbnails' memory is held.
    let room: WeightedSemaphore.Reservation?
    do throws(WeightedSemaphore.Failure) {
      room = try await rooms(for: decode)?.reserve(
        HelperMemory.bytes(configuration.isolation), priority: job.priority)
    } catch {
      throw ThumbnailError(error)
    }
    return try await reserve(decode.bytes, of: body, room, for: job)
  }

  /// The same on the calling thread.
  func reserveHere(
    _ decode: Decode, of body: ByteSource, for job: JobContext, _ cancellation: CancellationFlag
  ) throws(ThumbnailError) -> DecodeReservation {
    if let reservation = reserveNow(decode, for: job) { return reservation }
    let thread = WaitingThread()
    let result = Handover<Result<DecodeReservation, ThumbnailError>>()
    let waiting = Task(executorPreference: thread) { [self] in
      do throws(ThumbnailError) {
        result.value = .success(try await reserve(decode, of: body, for: job))
      } catch {
        result.value = .failure(error)
      }
    }
    while result.value == nil {
      if !thread.runsNext(), cancellation.isSet { waiting.cancel() }
    }
    return try (result.value ?? .failure(.cancelled)).get()
  }

  /// What limits the memory of helpers besides the budget; nil if nothing does.
  private func rooms(for decode: Decode) -> WeightedSemaphore? {
    guard decode.isUnplanned, case .limited(let rooms) = helperMemory else { return nil }
    return rooms
  }

  /// Waits for memory for a decode, and for the turn of its clients. `body` must be named if its bytes are borrowed from
  /// that memory.
  private func reserve(
    _ bytes: Int, of body: ByteSource, _ other: WeightedSemaphore.Reservation? = nil, for job: JobContext
  ) async throws(ThumbnailError) -> DecodeReservation {
    let turn = try await turns.turn(of: bytes, for: job)
    do throws(WeightedSemaphore.Failure) {
      let held = try await memory.reserve(bytes, holdingLent: body.isFileInMemory, priority: job.priority)
      return DecodeReservation(memory: held, turn: turn, other: other)
    } catch {
      throw ThumbnailError(error)
    }
  }

  /// Waits until no other decode runs and that many bytes are really free: for a decode of more memory than all decodes
  /// may take together. Holds back all other decodes, and bodies, until it is released.
  ///
  /// - Throws: `.memoryUnavailable` if they are not free at the moment.
  private func reserveAlone(_ bytes: Int, of body: ByteSource, for job: JobContext) async throws(ThumbnailError)
    -> DecodeReservation
  {
    var reservation = try await reserve(memory.capacity, of: body, for: job)
    // No deadlock: the holders of the rest do not wait for anything that is held here.
    let bodies = bodyMemory.reserveFree()
    reservation.other = bodies
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

/// Runs a task on the thread that waits for it: where the system has no other thread left, it needs none.
private final class WaitingThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let arrivals = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    arrivals.signal()
  }

  /// Runs the next part of the task; false if none has come for a moment.
  func runsNext() -> Bool {
    guard arrivals.wait(timeout: .now() + .milliseconds(20)) == .success else { return false }
    jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }
}

/// The memory limits of all work in flight, in bytes.
///
/// Bodies have a fixed share, so that bodies and decodes can never wait for each other; the rest is for decodes.
package struct MemoryBudget: Sendable {
  /// The whole budget, in bytes.
  let total: Int
  /// The most bytes of all bodies in RAM together.
  let bodyShare: Int
  /// The most bytes of all decodes together: the remainder.
  var decodeShare: Int { total - bodyShare }
  /// The most bytes of one body in RAM before it moves to a spill file.
  let bodyLimit: Int

  /// The smallest budget that does useful work: 16 MiB.
  static let minimum = 16 << 20
  /// The default if there is enough memory: 512 MiB.
  package static let standard = 512 << 20

  /// Divides `total` for `downloads` concurrent transfers and `jobs` concurrent decodes.
  ///
  /// A body counts from its first byte to the end of its decode. So that decodes never leave the network idle, there is
  /// room for the bodies of all transfers and of two decodes per worker, but at most a quarter of the total.
  init(total: Int, downloads: Int, jobs: Int) {
    self.total = max(total, Self.minimum)
    bodyLimit = 256 << 10
    bodyShare = min((downloads + 2 * jobs) * bodyLimit, self.total / 4)
  }

  /// The default limit of the memory cache if there is enough memory: 64 MiB.
  package static let standardMemoryCache = 64 << 20
  /// The memory of the program itself, which is not counted in the budget: 32 MiB.
  ///
  /// Measured: 10 MiB with downloads and the disk cache, the rest for connections, idle helpers, thumbnails waiting to
  /// be written to disk, and resident code.
  static let programBytes = 32 << 20

  /// The default budget: 512 MiB, or the memory limit less the program and a memory cache of `memoryCache` bytes, if
  /// that is less.
  static func defaultTotal(memoryCache: Int, root: String = "/") -> Int {
    guard let limit = MachineMemory.limit(root: root) else { return standard }
    return max(minimum, min(standard, limit - programBytes - memoryCache))
  }

  /// The default limit of the memory cache: 64 MiB, or an eighth of the memory limit if that is less.
  static func defaultMemoryCache(root: String = "/") -> Int {
    min(standardMemoryCache, (MachineMemory.limit(root: root) ?? .max) / 8)
  }
}
