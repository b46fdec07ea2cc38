/// The outcome of one system call, by its number and its arguments.
struct CallRule {
  /// The kernel's reaction to a call.
  enum Outcome: Equatable {
    case allow
    /// The call fails with this error number.
    case refuse(Int32)
    /// The process ends at once.
    case end
  }

  /// A condition for an argument. Arguments count from 0. Only the lower 32 bits of flags and numbers are compared,
  /// because the kernel reads no more of them.
  enum Condition {
    case argument(Int, isOneOf: [Int])
    case flags(Int, without: Int)
    /// All 64 bits, for pointers.
    case argumentIsNull(Int)
  }

  /// The calls' numbers.
  let calls: [Int32]
  /// The conditions for the arguments.
  var conditions: [Condition] = []
  /// The outcome if all conditions hold.
  var outcome = Outcome.allow
  /// The outcome if one does not hold.
  var otherwise = Outcome.end

  /// Allows calls with any arguments.
  static func allow(_ calls: Int32...) -> CallRule { CallRule(calls: calls) }

  /// Allows a call under conditions; otherwise it ends the process or fails.
  static func allow(_ call: Int32, if conditions: Condition..., otherwise: Outcome = .end) -> CallRule {
    CallRule(calls: [call], conditions: conditions, otherwise: otherwise)
  }

  /// Lets calls fail with an error number.
  static func refuse(_ calls: Int32..., with error: Int32) -> CallRule {
    CallRule(calls: calls, outcome: .refuse(error))
  }
}
