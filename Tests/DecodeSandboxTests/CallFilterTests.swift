import CSandbox
import TestSupport

@testable import DecodeSandbox

/// The kernel's program that filters system calls, carried out here for every call, with the numbers of both
/// architectures.
@Suite struct CallFilterTests {
  /// What the program is given: the number, the architecture and the arguments of a call.
  private struct Call {
    var number: Int32
    var architecture: UInt32
    var arguments = [UInt64](repeating: 0, count: 6)

    /// 32 bits of `struct seccomp_data`.
    func word(at offset: Int) -> UInt32 {
      switch offset {
      case 0: return UInt32(bitPattern: number)
      case 4: return architecture
      default:
        let argument = arguments[(offset - 16) / 8]
        return UInt32(truncatingIfNeeded: offset % 8 == 0 ? argument : argument >> 32)
      }
    }
  }

  private struct Fault: Error {}

  /// What the program returns for a call.
  private func result(of program: [sock_filter], for call: Call) throws -> UInt32 {
    var accumulator: UInt32 = 0
    var next = 0
    while program.indices.contains(next) {
      let instruction = program[next]
      next += 1
      var holds = false
      switch Int32(instruction.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        accumulator = call.word(at: Int(instruction.k))
        continue
      case BPF_RET | BPF_K: return instruction.k
      case BPF_JMP | BPF_JEQ | BPF_K: holds = accumulator == instruction.k
      case BPF_JMP | BPF_JGE | BPF_K: holds = accumulator >= instruction.k
      case BPF_JMP | BPF_JSET | BPF_K: holds = accumulator & instruction.k != 0
      default: throw Fault()
      }
      next += Int(holds ? instruction.jt : instruction.jf)
    }
    throw Fault()
  }

  private func code(_ outcome: CallRule.Outcome) -> UInt32 {
    switch outcome {
    case .allow: UInt32(SECCOMP_RET_ALLOW)
    case .refuse(let error): UInt32(SECCOMP_RET_ERRNO) | UInt32(error)
    case .end: UInt32(SECCOMP_RET_KILL_PROCESS)
    }
  }

  private func holds(_ condition: CallRule.Condition, of call: Call) -> Bool {
    switch condition {
    case .argument(let index, isOneOf: let values):
      values.contains { UInt32(truncatingIfNeeded: $0) == UInt32(truncatingIfNeeded: call.arguments[index]) }
    case .flags(let index, without: let bits): call.arguments[index] & UInt64(UInt32(truncatingIfNeeded: bits)) == 0
    case .argumentIsNull(let index): call.arguments[index] == 0
    }
  }

  /// What the rules say, read as they are written.
  private func expected(_ rules: [CallRule], _ call: Call) -> CallRule.Outcome {
    guard let rule = rules.first(where: { $0.calls.contains(call.number) }) else { return .end }
    return rule.conditions.allSatisfy { holds($0, of: call) } ? rule.outcome : rule.otherwise
  }

  private static let (socket, process): (Int32, pid_t) = (3, 4321)
  /// Values of arguments: those that rules name, and others near them and beyond 32 bits.
  private static let values: [UInt64] = [
    0, 1, 2, 3, 4, UInt64(process), UInt64(process) + 1, 0x3d_0f00, 0x3d_0f01, UInt64(TCGETS), UInt64(O_CREAT),
    UInt64(O_RDWR), UInt64(PROT_EXEC), 1 << 32, 1 << 32 | 3, 1 << 63, .max,
  ]
  /// Beyond the last call of any kernel.
  private static let highestNumber: Int32 = 600

  private func check(_ rules: [CallRule], architecture: UInt32) throws {
    let program = CallFilter.program(for: rules, architecture: architecture)
    #expect(program.count <= Int(BPF_MAXINSNS))
    for number in -1...Self.highestNumber {
      for index in 0..<6 {
        for value in Self.values {
          for other in [0, 1] as [UInt64] {
            var call = Call(number: number, architecture: architecture)
            call.arguments = [UInt64](repeating: other, count: 6)
            call.arguments[index] = value
            let (result, expected) = (try result(of: program, for: call), code(expected(rules, call)))
            if result != expected { Issue.record("call \(number) \(call.arguments): \(result), not \(expected)") }
          }
        }
      }
    }
    for foreign in [0, UInt32(EM_386), csandbox_x86_64, csandbox_arm64] where foreign != architecture {
      for rule in rules {
        let call = Call(number: rule.calls[0], architecture: foreign)
        #expect(try result(of: program, for: call) == code(.end))
      }
    }
  }

  private static var rules: [CallRule] { AllowedCalls.rules(socket: socket, process: process) }

  @Test func everyCallEndsAsItsRuleSays() throws {
    try check(Self.rules, architecture: csandbox_architecture)
  }

  @Test func noCallHasTwoRules() {
    let numbers = Self.rules.flatMap(\.calls)
    #expect(Set(numbers).count == numbers.count)
  }

  #if arch(x86_64)
    @Test func anotherInterfaceOfTheSameKernelEndsTheHelper() throws {
      let program = CallFilter.program(for: Self.rules)
      for rule in Self.rules {
        let x32 = Call(number: rule.calls[0] | 0x4000_0000, architecture: csandbox_architecture)
        #expect(try result(of: program, for: x32) == code(.end))
      }
    }

    /// Debian's package linux-libc-dev-arm64-cross.
    private static let arm64Headers = "/usr/aarch64-linux-gnu/include"

    /// The numbers of system calls by name, as the C compiler reads them from the kernel's headers.
    private func numbers(_ options: [String] = []) throws -> [String: Int32] {
      let compiler = Process()
      compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      compiler.arguments = ["cc", "-E", "-dM", "-include", "asm/unistd.h"] + options + ["-x", "c", "/dev/null"]
      let text = try compiler.printed()
      let macros = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2).map(String.init) }
      let values = Dictionary(
        macros.filter { $0.count == 3 }.map { ($0[1], $0[2]) }, uniquingKeysWith: { first, _ in first })
      var numbers: [String: Int32] = [:]
      for (name, value) in values where name.hasPrefix("__NR_") {
        // Some are named after others.
        if let number = Int32(value) ?? values[value].flatMap({ Int32($0) }) {
          numbers[String(name.dropFirst("__NR_".count))] = number
        }
      }
      return numbers
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: arm64Headers), "no headers of arm64"))
    func theRulesHoldWithTheNumbersOfArm64() throws {
      let ours = try numbers()
      let theirs = try numbers(["-nostdinc", "-isystem", Self.arm64Headers, "-U__x86_64__", "-D__aarch64__"])
      #expect(ours["openat"] == SYS_openat && theirs["openat"] == 56)
      let names = Dictionary(ours.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
      var unknown: Set<String> = []
      let rules = try Self.rules.compactMap { rule -> CallRule? in
        let calls = try rule.calls.compactMap { number -> Int32? in
          let name = try #require(names[number], "no call has the number \(number)")
          if theirs[name] == nil { unknown.insert(name) }
          return theirs[name]
        }
        return calls.isEmpty
          ? nil
          : CallRule(calls: calls, conditions: rule.conditions, outcome: rule.outcome, otherwise: rule.otherwise)
      }
      // What `AllowedCalls` names for x86-64 alone: anything else would not compile for arm64.
      #expect(unknown == ["access", "chmod", "lstat", "mkdir", "poll", "readlink", "stat", "time", "unlink"])
      try check(rules, architecture: csandbox_arm64)
    }
  #endif
}
