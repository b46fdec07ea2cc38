package import ThumbnailCore

/// What stays of a file that is renamed, moved or seen by another mount, as a text.
package enum FilePrint {
  private static let (piece, pieces) = (8 << 10, 8)

  /// Of the length and the time of the last change: what every file of a folder can be compared by.
  static func stamp(of state: FileState) -> UInt32 {
    let key = FolderDates.key(of: [], state)
    return UInt32(truncatingIfNeeded: key ^ key >> 32)
  }

  /// The stamps of prints.
  static func stamps(of prints: some Sequence<String>) -> Set<UInt32> {
    Set(prints.compactMap { UInt32($0.prefix(8), radix: 16) })
  }

  /// The stamp of a file and 96 bits of a digest of its bytes: all of them up to 64 KiB, else as many spread over the
  /// file, since scans begin alike. Nil if it cannot be read, or is empty. Blocks.
  package static func of(_ path: RawPath) -> String? {
    guard let (file, state) = try? RootFolder.file(at: path), state.kind == .regular, state.byteCount > 0,
      case let (body, last) = (ByteSource.file(file, count: state.byteCount), max(0, state.byteCount - piece)),
      case let starts = Set((0..<pieces).map { last * $0 / (pieces - 1) }).sorted(),
      let parts = try? starts.map({ try body.read(at: $0, length: piece) })
    else { return nil }
    let stamp = withUnsafeBytes(of: stamp(of: state).bigEndian) { Array($0) }
    return (stamp + SHA256.hash(parts.joined()).prefix(12)).hexadecimal
  }
}
