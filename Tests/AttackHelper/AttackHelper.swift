import CAttack
import Foundation

@testable import Attacks
@testable import DecodeSandbox

/// A decode helper that is broken from the start: behind the walls of the real one, it carries out the attempt that its
/// image names, and decodes all other images.
///
/// It also makes the attempts that anybody could without walls, and starts programs as if the kernel lacked a part of
/// them.
@main
enum AttackHelper {
  static func main() {
    DecodeHelper.serveIfAsked(CommandLine.arguments) { kind, memoryLimit, samples in
      let worker = DecodeWorker(kind, memoryLimit: memoryLimit, samples)
      return { request, image in Intruder(image)?.response() ?? worker.carryOut(request, image) }
    }
    let words = Array(CommandLine.arguments.dropFirst())
    switch words.first {
    case "free" where words.count == 3: attempt(words[1], on: words[2])
    case "hide" where words.count == 1: hide()
    case "without" where words.count > 2: run(Array(words.dropFirst(2)), without: words[1])
    default: exit(64)
    }
  }

  /// Makes an attempt in this process, which nothing confines.
  private static func attempt(_ name: String, on file: String) {
    guard let attempt = Attempt.all.first(where: { $0.name == name }) else { exit(64) }
    print(Attempt.account(of: attempt.run(Attempt.Scene(parent: Int(getppid()), file: file))))
  }

  /// Hides this process as `thumbs` does itself, and says whether it is hidden before and after.
  private static func hide() {
    func isHidden() -> Bool { Kernel.call(SYS_prctl, Int(PR_GET_DUMPABLE)) == 0 }
    let before = isHidden()
    ProcessPrivacy.forbidInspection()
    print(before, isHidden())
  }

  /// Becomes another program on a kernel that lacks a system call.
  private static func run(_ words: [String], without part: String) {
    let call = ["seccomp": SYS_seccomp, "landlock": 444, "namespaces": SYS_unshare][part]
    guard let call, attack_remove_call(UInt32(call)) == 0 else { exit(64) }
    let arguments = words.map { strdup($0) } + [nil]
    execv(words[0], arguments)
    exit(126)
  }
}
