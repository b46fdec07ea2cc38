import CSandbox
import Foundation
import ImageCodec
import Synchronization
import ThumbnailCore

/// A process that is ready to decode, and never does: it forks a helper for whoever's images are to be decoded, which
/// takes a small part of the time of a start and shares its memory. Since it gets no image, no helper begins broken.
final class HelperZygote: Sendable {
  /// The time limit from its start to its greeting: libvips and its many libraries are loaded meanwhile.
  private static let startDeadline = Duration.seconds(20)

  let kind: HelperKind
  let process: ChildProcess
  private let path: String
  private let socket: FileDescriptor
  /// Whether its greeting was received. Locked while a helper is forked.
  private let hasGreeted = Mutex(false)

  /// Starts a process, which ends with the calling thread, and so do its helpers.
  init(_ kind: HelperKind, _ program: HelperProgram) throws(HelperFailure) {
    let started = try HelperSpawn.start(program, kind)
    (self.kind, path, process, socket) = (kind, program.path, ChildProcess(started.pid), started.socket)
  }

  /// One that was started before there was a pipeline.
  private static let prepared = Mutex<HelperZygote?>(nil)

  /// Starts one for the first pipeline that wants one of its kind.
  static func prepare() {
    let program = HelperProgram(DecodeIsolation())
    if let zygote = try? HelperZygote(.common, program) { prepared.withLock { $0 = zygote } }
  }

  /// The one that was prepared, if it is what is wanted.
  static func takePrepared(_ kind: HelperKind, _ program: HelperProgram) -> HelperZygote? {
    prepared.withLock { prepared in
      guard let known = prepared, known.kind == kind, known.path == program.path else { return nil }
      prepared = nil
      return known
    }
  }

  /// A new helper, a child of this process, and the socket to it. It may take so many bytes beyond the program itself.
  /// The zygote is of no use after a failure.
  func fork(
    memoryLimit: Int, _ cancellation: CancellationFlag
  ) throws(HelperFailure) -> (process: ChildProcess, socket: FileDescriptor) {
    let (ours, theirs) = try HelperSpawn.socketPair()
    let forked = hasGreeted.withLock { hasGreeted in
      Result { () throws(HelperFailure) in
        var channel = HelperChannel(socket: socket, deadline: Self.startDeadline, cancellation: cancellation)
        if !hasGreeted {
          guard try channel.receive(HelperGreeting.self).name == HelperMessage.greeting else {
            throw .nonsense(detail: "another version")
          }
          hasGreeted = true
        }
        try channel.send(theirs, memoryLimit: memoryLimit)
        return pid_t(truncatingIfNeeded: try channel.receive(Int.self))
      }
    }
    do throws(HelperFailure) {
      let pid = try forked.get()
      // A child of ours that has ended is there until it is reaped.
      guard pid > 0, waitid(P_PID, id_t(pid), nil, WEXITED | WNOHANG | WNOWAIT) == 0 else {
        throw .nonsense(detail: "no process was forked")
      }
      return (ChildProcess(pid), ours)
    } catch {
      let ending = process.end(after: error)
      if ending == .cancelled { throw .cancelled }
      throw .cannotStart(detail: "\(path) did not greet as the thumbs of this version does (\(ending))")
    }
  }
}
