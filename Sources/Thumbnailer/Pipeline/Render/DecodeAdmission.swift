import DecodeSandbox
import ThumbnailCore

/// Decides whether a decode may run, by its predicted memory.
///
/// What fits into the decode share of the budget runs beside other decodes. A larger one runs alone, in memory that is
/// free at that moment: within a helper's limit; in process if the budget is left at its default. What does not fit is
/// refused.
struct DecodeAdmission: Sendable, Equatable {
  /// The most that one decode may take beside others, in bytes.
  let share: Int
  /// The most that one decode may take alone, in bytes. In process 0 if the user has set the budget, which then applies.
  let lone: Int
  /// What must be free besides what a lone decode takes, in bytes.
  let overhead: Int

  /// An allowance for a helper's own memory, besides what it decodes.
  static let helperBytes = 16 << 20
  /// The bytes that must stay free besides the prediction, which is for the decode alone and has its own reserve
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

  /// The most that any decode may take, however much memory is free.
  var most: Int { max(share, lone) }

  /// Whether a decode of that many bytes may run while no other does and `free` bytes are free.
  func admits(_ bytes: Int, free: Int) -> Bool { bytes <= lone && bytes + overhead <= free }
}

extension ThumbnailPipeline.Configuration {
  /// The most that the decode of one image may take, in bytes, however much memory is free.
  package var largestDecode: Int {
    DecodeAdmission(self, budget: budget).most
  }
}

/// Where the memory of a helper comes from when the cost of the image cannot be predicted.
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
