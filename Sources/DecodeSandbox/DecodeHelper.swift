import CSandbox
public import FoundationEssentials
import Glibc
import Synchronization
import ThumbnailCore

/// The helper process that `DecodeIsolation` starts: confined by the kernel, it decodes one image after the other for
/// the pipeline that started it, until the pipeline closes the connection.
///
/// `thumbs-decode` is only that; SwiftPM builds it beside each program that uses the library. A program that is one
/// executable can be its own helper: it calls `serveIfAsked()` before anything else.
public enum DecodeHelper {
  /// The name of the program that is only a helper.
  static let programName = "thumbs-decode"

  /// The default helper: `thumbs-decode` in the folder of this program's executable, or else the program itself, if it
  /// has called `serveIfAsked()`. Nil if there is neither.
  public static var program: URL? {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: ownExecutable)) ?? ""
    return program(besides: own, isOwnHelper: isOwnHelper.load(ordering: .relaxed))
  }

  /// The same for the program with this path.
  static func program(besides path: String, isOwnHelper: Bool) -> URL? {
    let neighbour = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(programName)
    if access(neighbour.path, X_OK) == 0 { return neighbour }
    return isOwnHelper ? URL(fileURLWithPath: ownExecutable, isDirectory: false) : nil
  }

  /// Not its path, which may lead to another version when a helper is started.
  private static let ownExecutable = "/proc/self/exe"
  /// Whether this program has called `serveIfAsked()`.
  private static let isOwnHelper = Atomic(false)

  /// The advice if there is no helper.
  static let absence = """
    there is no helper to decode pictures in: copy \(programName), which SwiftPM builds beside this program, into its \
    folder, name one (isolation.executable), call DecodeHelper.serveIfAsked() first in its main so that it is its own, or \
    decode in process (isolation = .inProcess)
    """

  /// The first command-line argument of a helper.
  static let command = "decode-helper"

  /// The settings passed on a zygote's command line.
  struct Settings: Equatable {
    /// The kind of its helpers.
    var kind: HelperKind
    /// The process that starts it.
    var parent: pid_t

    init(kind: HelperKind, parent: pid_t) { (self.kind, self.parent) = (kind, parent) }

    init?(_ arguments: [String]) {
      guard arguments.count == 2, let kind = HelperKind(rawValue: arguments[0]), let parent = pid_t(arguments[1])
      else { return nil }
      self.init(kind: kind, parent: parent)
    }

    var arguments: [String] { [kind.rawValue, "\(parent)"] }
  }

  /// Starts a helper for JPEG, PNG, WebP and GIF ahead of the first pipeline that decodes, which finds it ready.
  ///
  /// It ends with that pipeline, or with the calling thread: call it on the main thread, or on one that lasts.
  package static func prepare() { HelperZygote.prepare() }

  /// Serves as a helper and then exits, if the program was started as one. Returns at once otherwise.
  ///
  /// Call it on the main thread before anything else: it replaces the process' standard input, closes no other file,
  /// and drops privileges for good.
  public static func serveIfAsked(arguments: [String] = CommandLine.arguments) {
    isOwnHelper.store(true, ordering: .relaxed)
    serveIfAsked(arguments) { kind, memoryLimit, samples in
      DecodeWorker(kind, memoryLimit: memoryLimit, samples).carryOut
    }
  }

  /// Carries out one request for an image: the response, and what follows it.
  typealias Work = (HelperRequest, ByteSource) -> (HelperResponse, [HelperAttachment])
  /// Makes the work of a new helper.
  typealias Worker = (HelperKind, _ memoryLimit: Int, SharedSamples) -> Work

  /// Serves with other work than decoding, which tests run in the same confinement.
  static func serveIfAsked(_ arguments: [String], worker: Worker) {
    guard arguments.count > 1, arguments[1] == command else { return }
    var kind: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard let settings = Settings(Array(arguments.dropFirst(2))),
      getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &kind, &length) == 0
    else { refuse(command) }
    exit(serve(settings, worker))
  }

  /// Ends a program that is only a helper, but was not started as one.
  ///
  /// - Parameter program: Its name for the message.
  package static func refuse(_ program: String) -> Never {
    let line = "\(program) is not for people: thumbs starts it to decode pictures\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
    exit(64)
  }

  private static func serve(_ settings: Settings, _ worker: Worker) -> Int32 {
    // It has started.
    close(HelperSpawn.executableNumber)
    // Keeps the socket away from libraries that read standard input.
    let socket = FileDescriptor(owning: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3))
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    dup2(null, STDIN_FILENO)
    close(null)
    let confinement: HelperConfinement
    do throws(CodecError) {
      guard let prepared = try HelperConfinement(settings) else { return 0 }
      confinement = prepared
    } catch {
      return 70
    }
    let channel = HelperChannel(socket: socket)
    do throws(HelperFailure) {
      try channel.send(HelperGreeting())
      while let (memoryLimit, connection, samples) = channel.receiveConnection() {
        let child = csandbox_fork_sibling()
        if child == 0 {
          close(socket.rawValue)
          guard let gaps = confinement.complete(memoryLimit: memoryLimit, socket: connection) else { return 0 }
          return decode(connection, gaps, worker(settings.kind, memoryLimit, samples))
        }
        try channel.send([.bytes(HelperMessage.encode(child < 0 ? -Int(errno) : Int(child)))])
      }
    } catch {}
    // The pipeline has closed the connection.
    return 0
  }

  /// Serves as a helper that was forked, and will fork no other.
  private static func decode(_ socket: FileDescriptor, _ gaps: [ConfinementGap], _ work: Work) -> Int32 {
    var channel = HelperChannel(socket: socket)
    do throws(HelperFailure) {
      try channel.send(HelperGreeting(gaps: gaps))
      while true {
        let (request, image) = try channel.receiveRequest()
        let (response, attachments) = work(request, image)
        try channel.send(response, followedBy: attachments)
      }
    } catch {
      // The pipeline has closed the connection.
      return 0
    }
  }
}
