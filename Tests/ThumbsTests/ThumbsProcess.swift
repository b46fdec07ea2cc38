/// The command `thumbs` as a process of its own: started, fed, watched and ended by a test.
///
/// It sees none of the test's environment but `PATH`. A process that has not ended by its deadline is killed, and so is
/// one whose test is over.
final class ThumbsProcess: Sendable {
  /// What it reads from its standard input.
  enum Input {
    case nothing
    case bytes(Data)
    /// This descriptor, which the test goes on owning.
    case descriptor(Int32)

    /// A descriptor to read it from, for the caller to close.
    func opened() -> Int32 {
      switch self {
      case .nothing: return open("/dev/null", O_RDONLY | O_CLOEXEC)
      case .bytes(let data):
        // No pipe that somebody would have to fill meanwhile.
        let file = Self.file()
        _ = data.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
        return file
      case .descriptor(let descriptor): return fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
      }
    }

    /// A new file without a name.
    static func file() -> Int32 {
      open(NSTemporaryDirectory(), O_RDWR | O_CLOEXEC | 0o20000000 | O_DIRECTORY, 0o600)
    }
  }

  /// Where its standard output or standard error goes.
  enum Output {
    /// To the test.
    case captured
    /// Into this descriptor, which the test goes on owning.
    case descriptor(Int32)
  }

  /// What became of it.
  struct Result: Sendable {
    /// The exit status; 128 and the signal's number for one that a signal ended, as shells count.
    let status: Int32
    let stdout: Data
    let stderr: String
    /// Whether it was killed at its deadline.
    let wasLate: Bool
  }

  private struct State {
    var stdout = Data()
    var stderr = Data()
    var result: Result?
    var waiter: CheckedContinuation<Result, Never>?
    var watch: (condition: @Sendable (String, String) -> Bool, waiter: CheckedContinuation<Bool, Never>)?
    var printed: String { String(decoding: stdout, as: UTF8.self) }
    var said: String { String(decoding: stderr, as: UTF8.self) }
  }

  private let state = Mutex(State())
  let pid: pid_t

  /// Starts `thumbs` with these arguments, or a launcher that starts it with them.
  init(
    _ arguments: [String], environment: [String: String], directory: URL, input: Input = .nothing,
    stdout: Output = .captured, stderr: Output = .captured, deadline: Duration = .seconds(300),
    launcher: [String] = []
  ) throws {
    var closing: [Int32] = []
    defer { for descriptor in closing { close(descriptor) } }
    let inputEnd = input.opened()
    closing.append(inputEnd)
    var reading: [Int32] = []
    func end(_ output: Output) -> Int32 {
      if case .descriptor(let descriptor) = output {
        reading.append(-1)
        return descriptor
      }
      let ends = makePipe()
      reading.append(ends.read)
      closing.append(ends.write)
      return ends.write
    }
    pid = try Self.spawn(arguments, environment, directory, [inputEnd, end(stdout), end(stderr)], launcher)
    watch(reading, deadline: deadline)
  }

  deinit { if state.withLock({ $0.result == nil }) { kill(pid, SIGKILL) } }

  /// What it has printed so far.
  var printed: String { state.withLock { $0.printed } }
  /// What it has said on stderr so far.
  var said: String { state.withLock { $0.said } }

  /// Waits until a condition holds of what it has printed and said, or for its end; returns whether it holds. One at a
  /// time.
  func comes(to condition: @escaping @Sendable (_ printed: String, _ said: String) -> Bool) async -> Bool {
    await withCheckedContinuation { waiter in change { $0.watch = (condition, waiter) } }
  }

  private func change(_ change: (inout State) -> Void) {
    let over = state.withLock { state -> (waiter: CheckedContinuation<Bool, Never>, holds: Bool)? in
      change(&state)
      guard let watch = state.watch else { return nil }
      let holds = watch.condition(state.printed, state.said)
      guard holds || state.result != nil else { return nil }
      state.watch = nil
      return (watch.waiter, holds)
    }
    over?.waiter.resume(returning: over?.holds == true)
  }

  /// Whether it has ended.
  var hasEnded: Bool { state.withLock { $0.result != nil } }

  /// Sends a signal.
  func send(_ signal: Int32) { kill(pid, signal) }

  /// Waits for its end. To be called once.
  func result() async -> Result {
    await withCheckedContinuation { continuation in
      let result = state.withLock { state in
        if state.result == nil { state.waiter = continuation }
        return state.result
      }
      if let result { continuation.resume(returning: result) }
    }
  }

  /// The program that was built beside this test.
  static let executable: String = {
    let test = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: test).deletingLastPathComponent().appendingPathComponent("thumbs").path
  }()

  private static func spawn(
    _ arguments: [String], _ environment: [String: String], _ directory: URL, _ descriptors: [Int32],
    _ launcher: [String]
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (target, descriptor) in descriptors.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Whatever the test runner ignores or blocks is not passed on.
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var pid: pid_t = 0
    // A shell takes it to its folder; Glibc declares the call for that for GNU sources only.
    let shell = ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", directory.path]
    let words = (shell + launcher + [executable] + arguments).map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    let code = posix_spawn(&pid, shell[0], &actions, &attributes, words, variables)
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
    return pid
  }

  /// Collects what it writes, and its end, on a thread that outlives neither it nor the deadline by much.
  private func watch(_ reading: [Int32], deadline: Duration) {
    // Real time: a process that hangs is to be killed one day, and the kernel has no event without a descriptor for an end.
    let end = ContinuousClock.now + deadline
    let pid = pid
    Thread.detachNewThread { [weak self] in
      var open = reading
      var wasLate = false
      while open.contains(where: { $0 >= 0 }) {
        var polled = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&polled, nfds_t(polled.count), 50)
        for index in open.indices where open[index] >= 0 && polled[index].revents != 0 {
          let piece = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
            count = max(0, read(open[index], buffer.baseAddress, buffer.count))
          }
          if piece.isEmpty {
            close(open[index])
            open[index] = -1
          } else {
            self?.change {
              if index == 0 { $0.stdout.append(contentsOf: piece) } else { $0.stderr.append(contentsOf: piece) }
            }
          }
        }
        // Real time: as said above.
        if ContinuousClock.now > end, !wasLate {
          wasLate = true
          kill(pid, SIGKILL)
        }
      }
      var status: Int32 = 0
      while true {
        let ended = waitpid(pid, &status, WNOHANG)
        if ended == pid || ended < 0 && errno != EINTR { break }
        // Real time: as said above.
        if ContinuousClock.now > end, !wasLate {
          wasLate = true
          kill(pid, SIGKILL)
        }
        // Real time: as said above.
        usleep(2000)
      }
      self?.finish(status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f, wasLate)
    }
  }

  private func finish(_ status: Int32, _ wasLate: Bool) {
    change { state in
      let result = Result(status: status, stdout: state.stdout, stderr: state.said, wasLate: wasLate)
      state.result = result
      state.waiter?.resume(returning: result)
    }
  }
}
