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
  private let socket: FileDescriptor
  private let isCollected = Mutex(false)
  private let servedCount = Atomic(0)

  /// The number of requests sent to it.
  var served: Int { servedCount.load(ordering: .relaxed) }

  /// Starts a process and waits for its greeting.
  init(_ isolation: DecodeIsolation, cancellation: CancellationFlag) throws(HelperFailure) {
    guard let path = isolation.executable?.path else { throw .cannotStart(detail: "no executable is named") }
    (pid, socket) = try HelperSpawn.start(path, isolation)
    do throws(HelperFailure) {
      let channel = HelperChannel(socket: socket, deadline: Self.startDeadline, cancellation: cancellation)
      guard try channel.receive(HelperGreeting.self) == HelperGreeting() else {
        throw .nonsense(detail: "another version")
      }
    } catch {
      let ending = explain(error)
      if ending == .cancelled { throw .cancelled }
      throw .cannotStart(detail: "\(path) did not greet as the thumbs of this version does (\(ending))")
    }
  }

  deinit { end() }

  /// Decodes one image and validates the response.
  func decode(
    _ request: HelperRequest, of image: FileDescriptor, rules: ResponseRules, deadline: Duration,
    cancellation: CancellationFlag
  ) throws(HelperFailure) -> [RenderedVariant] {
    servedCount.add(1, ordering: .relaxed)
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
