import CLibC
import Glibc
import Synchronization
package import ThumbnailCore

/// What stays of a file that is renamed, moved, edited or seen by another mount, as texts: eight digits of a stamp, by
/// which every file of a folder is compared, and 96 bits of a digest.
package enum FilePrint {
  private static let (piece, pieces) = (8 << 10, 8)
  /// Those of contents by the states of their files, so that each file of a hidden one's length is read once.
  private static let contents = Mutex(Generations<String, String>(limit: 200_000))

  /// Of the length, which the print of the content begins with, and of the inode, with which that of the file does.
  static func stamps(of state: FileState) -> (length: UInt32, inode: UInt32) {
    let (length, inode) = (UInt64(state.byteCount), state.inode)
    return (UInt32(truncatingIfNeeded: length ^ length >> 32), ~UInt32(truncatingIfNeeded: inode ^ inode >> 32))
  }

  /// The stamps of prints.
  static func stamps(of prints: some Sequence<String>) -> Set<UInt32> {
    Set(prints.compactMap { UInt32($0.prefix(8), radix: 16) })
  }

  private static func text(_ stamp: UInt32, _ digested: some Sequence<UInt8>) -> String {
    (withUnsafeBytes(of: stamp.bigEndian) { Array($0) } + SHA256.hash(digested).prefix(12)).hexadecimal
  }

  /// Both prints of a file.
  package static func of(_ path: RawPath) -> [String] { [ofContent(path), ofFile(path)].compactMap(\.self) }

  /// Of the length and the bytes of a file: all of them up to 64 KiB, else as many spread over it, since scans begin
  /// alike. Nil if it cannot be read, or is empty. Blocks.
  ///
  /// - Parameter mark: What identifies its state, if it is to be remembered.
  static func ofContent(_ path: RawPath, in mark: String? = nil) -> String? {
    if let mark, let known = contents.withLock({ $0.use(mark) }) { return known }
    guard let (file, state) = try? RootFolder.file(at: path), state.kind == .regular, state.byteCount > 0,
      case let (body, last) = (ByteSource.file(file, count: state.byteCount), max(0, state.byteCount - piece)),
      case let starts = Set((0..<pieces).map { last * $0 / (pieces - 1) }).sorted(),
      let parts = try? starts.map({ try body.read(at: $0, length: piece) })
    else { return nil }
    let print = text(stamps(of: state).length, parts.joined())
    if let mark { contents.withLock { $0.insert(print, for: mark) } }
    return print
  }

  /// Of the file, whatever its content: its number, the time of its birth, since numbers are given again, and its file
  /// system. Nil where there are none.
  static func ofFile(_ path: RawPath) -> String? {
    var status = statx()
    let system = path.withCString(clibc_file_system_number)
    guard system != 0, path.withCString({ statx(AT_FDCWD, $0, 0, UInt32(STATX_INO | STATX_BTIME), &status) }) == 0,
      status.stx_mask & UInt32(STATX_BTIME) != 0, let state = try? FileState(of: path)
    else { return nil }
    let numbers = "\(system) \(state.inode) \(status.stx_btime.tv_sec) \(status.stx_btime.tv_nsec)"
    return text(stamps(of: state).inode, numbers.utf8)
  }
}
