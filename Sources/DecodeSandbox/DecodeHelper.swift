import ImageCodec
import CSandbox
import Foundation
import ThumbnailCore

/// The helper process that `DecodeIsolation` starts: confined by the kernel, it decodes one image after the other for
/// the pipeline that started it, until the pipeline closes the connection.
///
/// `thumbs` is such a program. Any other can be its own helper: it calls `serveIfAsked()` before anything else, and
/// names itself as `DecodeIsolation.executable`.
public enum DecodeHelper {
  /// The first command-line argument of a helper.
  static let command = "decode-helper"

  /// The settings passed on a helper's command line.
  struct Settings: Equatable {
    /// The most address space, in bytes, beyond the program itself.
    var memoryLimit: Int
    /// The most CPU time per image, in seconds.
    var deadline: Int
    /// The process that starts the helper.
    var parent: pid_t

    init(memoryLimit: Int, deadline: Int, parent: pid_t) {
      (self.memoryLimit, self.deadline, self.parent) = (memoryLimit, deadline, parent)
    }

    init?(_ arguments: [String]) {
      let numbers = arguments.compactMap { Int($0) }
      guard arguments.count == 3, numbers.count == 3, numbers[0] > 0, numbers[1] > 0,
        let parent = pid_t(exactly: numbers[2])
      else { return nil }
      self.init(memoryLimit: numbers[0], deadline: numbers[1], parent: parent)
    }

    var arguments: [String] { ["\(memoryLimit)", "\(deadline)", "\(parent)"] }
  }

  /// Serves as a helper and then exits, if the program was started as one. Returns at once otherwise.
  ///
  /// To be called on the main thread before anything else: it replaces the process' standard input, closes no other
  /// file, and drops privileges for good.
  public static func serveIfAsked(arguments: [String] = CommandLine.arguments) {
    guard arguments.count > 1, arguments[1] == command else { return }
    var kind: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard let settings = Settings(Array(arguments.dropFirst(2))),
      getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &kind, &length) == 0
    else {
      FileHandle.standardError.write(Data("\(command) is not for people: thumbs starts it to decode pictures\n".utf8))
      exit(64)
    }
    exit(serve(settings))
  }

  private static func serve(_ settings: Settings) -> Int32 {
    // Keeps the socket away from libraries that read standard input.
    let socket = FileDescriptor(owning: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3))
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    dup2(null, STDIN_FILENO)
    close(null)
    do throws(CodecError) {
      guard try HelperConfinement.apply(settings) else { return 0 }
    } catch {
      return 70
    }
    let channel = HelperChannel(socket: socket)
    let worker = HelperWorker(memoryLimit: settings.memoryLimit)
    do throws(HelperFailure) {
      try channel.send(HelperGreeting())
      while true {
        let (request, image) = try channel.receiveRequest()
        HelperConfinement.allowComputing(seconds: settings.deadline)
        let (response, bodies) = worker.carryOut(request, image)
        try channel.send(response)
        for body in bodies { try channel.send([UInt8](body)) }
      }
    } catch {
      // The pipeline has closed the connection.
      return 0
    }
  }
}
