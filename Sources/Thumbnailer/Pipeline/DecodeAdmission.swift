import DecodeSandbox
import ThumbnailCore

/// Where a decode may run, by the memory that it is predicted to take.
///
/// What fits into the decodes' share of the budget runs beside others. What does not runs alone, in memory that is free
/// at that moment: in a helper, whose memory has a limit of its own, or else in process, where the budget is ours to
/// choose. What no way can read is refused.
struct DecodeAdmission: Sendable, Equatable {
  /// Where a decode runs that has all others wait.
  enum Place: Sendable, Equatable {
    case helper, process
  }

  /// What the decodes may take together, in bytes.
  let share: Int
  /// The most that a picture may take in a helper; 0 where there is none.
  let helperLimit: Int
  /// The most that a picture may take alone in process; 0 where the user has set the budget, which then holds.
  let processLimit: Int

  /// What a picture may take alone where nothing is set: 1 GiB, as in a helper.
  static let standardProcessLimit = 1 << 30
  /// What a helper takes by itself, beside what it decodes: an allowance.
  static let helperBytes = 16 << 20
  /// What must stay free beside the prediction, which is of the decode alone and has a reserve of its own
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

  /// The most that any way to read a picture may take, however much memory is free.
  var most: Int { max(share, helperLimit, processLimit) }

  /// Where a decode of so many bytes runs while nothing else is decoded, and `free` bytes are; nil where it cannot.
  func place(for bytes: Int, free: Int) -> Place? {
    if bytes <= helperLimit, bytes + Self.helperBytes + Self.margin <= free { return .helper }
    if bytes <= processLimit, bytes + Self.margin <= free { return .process }
    return nil
  }
}

/// Where the memory comes from that a helper takes for a picture of which nobody can tell beforehand what it costs.
enum HelperMemory: Sendable {
  /// No control group limits it: each helper has its own limit, beside the budget.
  case beside
  /// The control group has room for helpers beside the budget, for as many at once as this has shares.
  case limited(ByteSemaphore)
  /// It has not: a helper's memory is taken from the budget.
  case budget

  init(_ configuration: ThumbnailPipeline.Configuration, budget: MemoryBudget, cgroupLimit: Int?) {
    guard let cgroupLimit else {
      self = .beside
      return
    }
    let room = cgroupLimit - MemoryBudget.programBytes - configuration.memoryCacheLimit.bytes - budget.total
    self = room >= Self.bytes(configuration.isolation) ? .limited(ByteSemaphore(capacity: room)) : .budget
  }

  /// The most that a helper takes.
  static func bytes(_ isolation: DecodeIsolation) -> Int { isolation.memoryLimit.bytes + DecodeAdmission.helperBytes }
}
