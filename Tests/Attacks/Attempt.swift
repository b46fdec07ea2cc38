import CAttack
import Foundation

/// What code that has broken a decoder tries to do in the helper.
struct Attempt: Sendable, CustomStringConvertible {
  /// What becomes of it.
  enum End: Sendable, Equatable {
    /// The kernel ends the helper.
    case ended
    /// The attempt fails.
    case refused
  }

  /// What an attempt knows.
  struct Scene: Sendable {
    /// The process that has started the helper.
    let parent: Int
    /// A file of the parent, which the helper was not given.
    let file: String
    /// The descriptor of the image.
    var image = -1
    /// The descriptor of the socket to the parent: the first one that is free in a zygote, which has one of its own.
    let socket = 4
  }

  let name: String
  let end: End
  /// Whether it succeeds in a process that is not confined, with no rights but those that everybody has.
  let worksFreely: Bool
  /// The result of the kernel: negative if the attempt has failed.
  let run: @Sendable (Scene) -> Int

  init(_ name: String, _ end: End = .ended, worksFreely: Bool = false, _ run: @escaping @Sendable (Scene) -> Int) {
    (self.name, self.end, self.worksFreely, self.run) = (name, end, worksFreely, run)
  }

  /// An attempt that is one system call.
  init(_ name: String, _ end: End = .ended, call: Int32, _ arguments: Int...) {
    self.init(name, end) { _ in Kernel.call(call, arguments) }
  }

  var description: String { name }

  /// What a process says of an attempt that it has outlived.
  static func account(of result: Int) -> String {
    result < 0 ? "refused: \(String(cString: strerror(Int32(-result))))" : "done: \(result)"
  }
}

/// System calls by number.
enum Kernel {
  static func call(_ number: Int32, _ arguments: [Int]) -> Int {
    let all = arguments + [Int](repeating: 0, count: 6 - arguments.count)
    return attack_call(Int(number), all[0], all[1], all[2], all[3], all[4], all[5])
  }

  static func call(_ number: Int32, _ arguments: Int...) -> Int { call(number, arguments) }

  /// The address of a text that is never freed.
  static func text(_ text: String) -> Int { Int(bitPattern: strdup(text)) }

  /// The address of zeroes that are never freed.
  static func zeroes(_ count: Int = 4096) -> Int { Int(bitPattern: calloc(1, count)) }

  /// Opens a file, as openat(2) does.
  static func open(_ path: String, _ flags: Int32 = O_RDONLY) -> Int {
    call(SYS_openat, Int(AT_FDCWD), text(path), Int(flags), 0o600)
  }
}
