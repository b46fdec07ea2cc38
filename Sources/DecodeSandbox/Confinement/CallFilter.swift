import CSandbox
import Glibc
import ThumbnailCore

/// A seccomp filter: a program that the kernel runs before each system call of the process.
enum CallFilter {
  /// Numbers from here on belong to x32, another interface to the same kernel.
  private static let x32Begins: UInt32 = 0x4000_0000

  /// Installs the rules in all threads, for good. Anything that no rule names ends the process.
  static func install(_ rules: [CallRule]) throws(SystemFailure) {
    var program = program(for: rules)
    guard csandbox_filter_calls(&program, program.count) == 0 else { throw .last }
  }

  /// The rules as a program: it compares the call's number with that of each rule in turn, and skips the rules of other
  /// calls.
  static func program(
    for rules: [CallRule], architecture: UInt32 = csandbox_architecture
  ) -> [sock_filter] {
    var program = [load(offsetOfArchitecture)]
    program += [jump(BPF_JEQ, architecture, ifTrue: 1, ifFalse: 0), returning(.end), load(offsetOfNumber)]
    if architecture == csandbox_x86_64 {
      program += [jump(BPF_JGE, x32Begins, ifTrue: 0, ifFalse: 1), returning(.end)]
    }
    for rule in rules {
      let body = rule.conditions.flatMap { check($0, otherwise: rule.otherwise) } + [returning(rule.outcome)]
      for call in rule.calls {
        program.append(jump(BPF_JEQ, UInt32(call), ifTrue: 0, ifFalse: body.count))
        program += body
      }
    }
    return program + [returning(.end)]
  }

  /// Continues after these instructions if the condition holds, and returns the other outcome if not.
  private static func check(_ condition: CallRule.Condition, otherwise: CallRule.Outcome) -> [sock_filter] {
    switch condition {
    case .argument(let index, isOneOf: let values):
      let comparisons = values.enumerated().map { position, value in
        jump(BPF_JEQ, UInt32(truncatingIfNeeded: value), ifTrue: values.count - position, ifFalse: 0)
      }
      return [load(lowerHalf(of: index))] + comparisons + [returning(otherwise)]
    case .flags(let index, without: let bits):
      return [
        load(lowerHalf(of: index)), jump(BPF_JSET, UInt32(truncatingIfNeeded: bits), ifTrue: 0, ifFalse: 1),
        returning(otherwise),
      ]
    case .argumentIsNull(let index):
      return [lowerHalf(of: index), lowerHalf(of: index) + 4].flatMap { half in
        [load(half), jump(BPF_JEQ, 0, ifTrue: 1, ifFalse: 0), returning(otherwise)]
      }
    }
  }

  // The layout of `struct seccomp_data`: the number, the architecture, the instruction's address, six arguments. Both
  // architectures have the lower half of an argument first.
  private static let offsetOfNumber = 0
  private static let offsetOfArchitecture = 4
  private static func lowerHalf(of argument: Int) -> Int { 16 + 8 * argument }

  private static func load(_ offset: Int) -> sock_filter {
    sock_filter(code: UInt16(BPF_LD | BPF_W | BPF_ABS), jt: 0, jf: 0, k: UInt32(offset))
  }

  private static func jump(_ comparison: Int32, _ value: UInt32, ifTrue: Int, ifFalse: Int) -> sock_filter {
    sock_filter(code: UInt16(BPF_JMP | comparison | BPF_K), jt: UInt8(ifTrue), jf: UInt8(ifFalse), k: value)
  }

  private static func returning(_ outcome: CallRule.Outcome) -> sock_filter {
    let value: UInt32 =
      switch outcome {
      case .allow: UInt32(SECCOMP_RET_ALLOW)
      case .refuse(let error): UInt32(SECCOMP_RET_ERRNO) | UInt32(error)
      case .end: UInt32(SECCOMP_RET_KILL_PROCESS)
      }
    return sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: value)
  }
}

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
