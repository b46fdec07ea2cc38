import DecodeSandbox
import ThumbnailCore

/// Decides where a decode may run, by its predicted memory.
///
/// What fits into the decode share of the budget runs beside other decodes. A larger one runs alone, in memory that is
/// free at that moment: in a helper, which has its own memory limit, or else in process if the budget is left at its
/// default. What fits nowhere is refused.
struct DecodeAdmission: Sendable, Equatable {
  /// Where a decode runs that excludes all others.
  enum Place: Sendable, Equatable {
    case helper, process
  }

  /// The most that all decodes may take together, in bytes.
  let share: Int
  /// The most that one decode may take in a helper, in bytes; 0 if there is none.
  let helperLimit: Int
  /// The most that one decode may take alone in process, in bytes; 0 if the user has set the budget, which then
  /// applies.
  let processLimit: Int

  /// The most that one decode may take alone if nothing is set: 1 GiB, as in a helper.
  static let standardProcessLimit = 1 << 30
  /// An allowance for a helper's own memory, besides what it decodes.
  static let helperBytes = 16 << 20
  /// The bytes that must stay free besides the prediction, which is for the decode alone and has its own reserve
  /// (`DecodeCost.fixed`).
  static let margin = 3 << 20

  init(share: Int, helperLimit: Int, processLimit: Int) {
    (self.share, self.helperLimit, self.processLimit) = (share, helperLimit, processLimit)
  }

  init(_ configuration: ThumbnailPipeline.Configuration, budget: MemoryBudget) {
    let isolation = configuration.isolation
    self.init(
      share: budget.decodeShare, helperLimit: isolation.executable == nil ? 0 : isolation.memoryLimit.bytes,
      processLimit: configuration.chosenMemoryBudget == nil ? Self.standardProcessLimit : 0)
  }

  /// The most that any decode may take, however much memory is free.
  var most: Int { max(share, helperLimit, processLimit) }

  /// Where a decode of that many bytes runs while no other does and `free` bytes are free; nil if it cannot.
  func place(for bytes: Int, free: Int) -> Place? {
    if bytes <= helperLimit, bytes + Self.helperBytes + Self.margin <= free { return .helper }
    if bytes <= processLimit, bytes + Self.margin <= free { return .process }
    return nil
  }
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
