import CSandbox
import Glibc
import Synchronization
import ThumbnailCore

/// A process that is ready to decode, and never does: it forks a helper for each site, which takes a small part of the
/// time of a start and shares its memory. Because it gets no image, no helper is taken over at its start.
final class HelperZygote: Sendable {
  /// The time limit from its start to its greeting: libvips and its many libraries are loaded meanwhile.
  private static let startDeadline = Duration.seconds(20)

  let kind: HelperKind
  let process: ChildProcess
  let program: HelperProgram
  private let socket: FileDescriptor
  /// Whether its greeting was received. Locked while a helper is forked.
  private let hasGreeted = Mutex(false)

  /// Starts a process. It and its helpers end with the calling thread.
  init(_ kind: HelperKind, _ program: HelperProgram) throws(HelperFailure) {
    let started = try HelperSpawn.start(program, kind)
    (self.kind, self.program, process, socket) = (kind, program, ChildProcess(started.pid), started.socket)
  }

  /// A zygote that was started before there was a pipeline.
  private static let prepared = Mutex<HelperZygote?>(nil)

  /// Starts one for the first pipeline with the same program.
  static func prepare() {
    if let zygote = try? HelperZygote(.common, HelperProgram(DecodeIsolation())) {
      prepared.withLock { $0 = zygote }
    }
  }

  /// The prepared zygote, if it runs the program at that path.
  static func takePrepared(of path: String) -> HelperZygote? {
    prepared.withLock { prepared in
      guard let known = prepared, known.program.path == path else { return nil }
      prepared = nil
      return known
    }
  }

  /// A new helper, a child of this process, the socket to it, and its memory for samples. `memoryLimit` is in addition
  /// to the program itself, in bytes.
  ///
  /// No cancellation ends it, because others wait for the same zygote.
  ///
  /// - Throws: `.crashed` if it has ended, also before; `.cannotStart`.
  func fork(
    memoryLimit: Int
  ) throws(HelperFailure) -> (process: ChildProcess, socket: FileDescriptor, samples: SharedSamples) {
    let (ours, theirs) = try HelperSpawn.socketPair()
    let (samples, file) = try SharedSamples.make(memoryLimit: memoryLimit)
    let forked = hasGreeted.withLock { hasGreeted in
      Result { () throws(HelperFailure) in
        var channel = HelperChannel(socket: socket, deadline: Self.startDeadline, cancellation: CancellationFlag())
        if !hasGreeted {
          guard try channel.receive(HelperGreeting.self).name == HelperMessage.greeting else {
            throw .nonsense(detail: "another version")
          }
          hasGreeted = true
        }
        try channel.send(theirs, file, memoryLimit: memoryLimit)
        return try channel.receive(Int.self)
      }
    }
    let number: Int
    do throws(HelperFailure) {
      number = try forked.get()
    } catch {
      let ending = process.end(after: error)
      let hasServed = hasGreeted.withLock { $0 }
      if hasServed, case .crashed = ending { throw ending }
      throw .cannotStart(detail: "\(program.path) did not greet as the thumbs of this version does (\(ending))")
    }
    // A child that has ended exists until it is reaped.
    guard let pid = pid_t(exactly: number), pid > 0, waitid(P_PID, id_t(pid), nil, WEXITED | WNOHANG | WNOWAIT) == 0
    else { throw .cannotStart(detail: "no process: \(SystemFailure(code: Int32(clamping: -number)).reason)") }
    return (ChildProcess(pid), ours, samples)
  }
}
