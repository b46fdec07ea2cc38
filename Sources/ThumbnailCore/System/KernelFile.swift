import Glibc

/// Files that the kernel writes when they are read, such as those in `/proc`.
package enum KernelFile {
  /// The whole text; nil if the file cannot be read.
  ///
  /// Such a file states no length and arrives in pieces. Foundation's `String(contentsOfFile:)` stops after the first
  /// one, of at most 4 KiB.
  package static func text(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(file, &piece, piece.count)
      guard count >= 0 else { return nil }
      if count == 0 { return String(decoding: text, as: UTF8.self) }
      text += piece[..<count]
    }
  }
}
