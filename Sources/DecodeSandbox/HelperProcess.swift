import CSandbox
import Foundation
import ImageCodec
import Synchronization
import ThumbnailCore

/// One helper process and the socket to it. Its owner sends one request at a time.
///
/// The process is killed and reaped after its first failure, and on `deinit`.
final class HelperProcess: Sendable {
  /// The time limit from a process' start to its greeting: libvips and its many libraries are loaded meanwhile.
  private static let startDeadline = Duration.seconds(20)

  let pid: pid_t
  /// The most CPU time per image, in seconds.
  private let computingTime: Int
  private let socket: FileDescriptor
  private let isCollected = Mutex(false)
  private let servedCount = Atomic(0)
  private let greeting = Mutex(HelperGreeting())

  /// What the machine could not give of its confinement.
  var gaps: [ConfinementGap] { greeting.withLock(\.gaps) }

  /// The number of requests sent to it.
  var served: Int { servedCount.load(ordering: .relaxed) }

  /// Starts a process and waits for its greeting.
  init(_ isolation: DecodeIsolation, cancellation: CancellationFlag) throws(HelperFailure) {
    guard let path = isolation.executable?.path else { throw .cannotStart(detail: "no executable is named") }
    computingTime = Int((isolation.deadline / .seconds(1)).rounded(.up))
    (pid, socket) = try HelperSpawn.start(path, isolation)
    do throws(HelperFailure) {
      let channel = HelperChannel(socket: socket, deadline: Self.startDeadline, cancellation: cancellation)
      let received = try channel.receive(HelperGreeting.self)
      guard received.name == HelperMessage.greeting else { throw .nonsense(detail: "another version") }
      greeting.withLock { $0 = received }
    } catch {
      let ending = explain(error)
      if ending == .cancelled { throw .cancelled }
      throw .cannotStart(detail: "\(path) did not greet as the thumbs of this version does (\(ending))")
    }
    for gap in gaps { Log.codec.debug("\(gap)") }
    if isolation.requiresConfinement, let gap = gaps.first(where: \.isGrave) {
      end()
      throw .notConfined(how: "\(gap)")
    }
  }

  deinit { end() }

  /// Decodes one image and validates the response.
  func decode(
    _ request: HelperRequest, of image: FileDescriptor, rules: ResponseRules, deadline: Duration,
    cancellation: CancellationFlag
  ) throws(HelperFailure) -> [RenderedVariant] {
    servedCount.add(1, ordering: .relaxed)
    limitComputing()
    do throws(HelperFailure) {
      let channel = HelperChannel(socket: socket, deadline: deadline, cancellation: cancellation)
      try channel.send(request, passing: image)
      let response = try channel.receive(HelperResponse.self)
      let lengths = try rules.lengths(of: response)
      var bodies: [[UInt8]] = []
      for length in lengths { bodies.append(try channel.receive(length)) }
      return try rules.check(response, bodies)
    } catch {
      throw explain(error)
    }
  }

  /// Limits the CPU time from now on, with 5 s in reserve, as a backstop to the deadline.
  private func limitComputing() {
    var clock: clockid_t = 0
    var used = timespec()
    guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &used) == 0 else { return }
    _ = csandbox_limit_cpu_time(pid, UInt64(used.tv_sec + computingTime + 5))
  }

  /// Kills the process and reaps it. Has no effect if that was done already.
  func end() {
    isCollected.withLock { isCollected in
      guard !isCollected else { return }
      isCollected = true
      kill(pid, SIGKILL)
      while waitpid(pid, nil, 0) < 0, errno == EINTR {}
    }
  }

  /// Kills the process after a failure, and reports how it exited if it was dead already.
  private func explain(_ failure: HelperFailure) -> HelperFailure {
    guard case .crashed = failure else {
      end()
      return failure
    }
    let status = isCollected.withLock { isCollected -> Int32? in
      // A process that has closed its socket is about to exit, and its own exit status tells more than a kill.
      for _ in 0..<500 where !isCollected {
        var status: Int32 = 0
        let ended = waitpid(pid, &status, WNOHANG)
        if ended != 0 { isCollected = true }
        if ended == pid { return status }
        if !isCollected { usleep(1000) }
      }
      return nil
    }
    end()
    guard let status else { return failure }
    let signal = status & 0x7f
    if signal == 0 { return .crashed(how: "exit status \(status >> 8 & 0xff)") }
    return .crashed(how: "signal \(signal), \(String(cString: strsignal(signal)))")
  }
}
