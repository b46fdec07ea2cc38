import Exports
import ThumbnailCore

/// The index entry of one input: the state of the source, and the thumbnails made from it.
///
/// A line of tab-separated fields: the key, the source's modification time, its length and file system (`2048:65024`), the
/// token of the options, the source's path, and for each thumbnail its path, width and height, format, and length and
/// digest (`512:3f…`). In a site the width and height of the source are last. Before 0.11 there were no file systems
/// and digests, and 0.10 wrote a number and a colon before the token.
struct IndexEntry: Equatable, Sendable {
  /// The key of the input's thumbnails: see `OutputNames.key`.
  var key: UInt64
  /// The absolute path of the source.
  var source: RawPath
  /// The source's modification time, in nanoseconds since 1970.
  var modified: Int
  /// The source's length in bytes.
  var byteCount: Int
  /// The number of the file system of the source; nil if it is unknown.
  var disk: UInt64?
  /// See `token(_:isDamaged:isToldApart:)`.
  var token: String
  var outputs: [ConversionOutput]
  /// The size of the source image in pixels, of a site.
  var sourceSize: PixelSize?

  /// The suffix of the token for thumbnails renamed to avoid a collision.
  private static let toldApart = "~"

  private static let tab = UInt8(ascii: "\t")
  /// Of an entry with 256 outputs.
  private static let maxFields = 1030
  /// The format of a page (`SiteWriter`).
  private static let noFormat = "-"

  /// The token of an entry: the options' token, marked if the source is damaged or the names are not the plain ones.
  static func token(_ options: String, isDamaged: Bool, isToldApart: Bool) -> String {
    options + (isDamaged ? "d" : "") + (isToldApart ? toldApart : "")
  }

  /// The line, including its line feed.
  var line: [UInt8] {
    let length = "\(byteCount)" + (disk.map { ":\($0)" } ?? "")
    var line = Array("\(NamingTemplate.hex(key))\t\(modified)\t\(length)\t\(token)\t".utf8)
    Self.append(source.bytes, to: &line)
    for output in outputs {
      line.append(Self.tab)
      Self.append(output.path.bytes, to: &line)
      let format = output.format?.rawValue ?? Self.noFormat
      let digest = output.digest.map { ":" + String($0, radix: 16) } ?? ""
      line += "\t\(output.size ?? PixelSize(0, 0))\t\(format)\t\(output.byteCount ?? 0)\(digest)".utf8
    }
    line += (sourceSize.map { "\t\($0)\n" } ?? "\n").utf8
    return line
  }

  /// Parses the first field of a line.
  static func key(_ digits: some Collection<UInt8>) -> UInt64? {
    digits.count == 16 ? UInt64(String(decoding: digits, as: UTF8.self), radix: 16) : nil
  }

  /// Whether the line is that of thumbnails renamed to avoid a collision.
  static func isToldApart(line: [UInt8]) -> Bool {
    var rest = line[...]
    for _ in 0..<3 {
      guard let end = rest.firstIndex(of: tab) else { return false }
      rest = rest[(end + 1)...]
    }
    return rest.prefix { $0 != tab }.last == toldApart.utf8.first
  }

  private static func number(_ digits: some Collection<UInt8>) -> Int? { Int(String(decoding: digits, as: UTF8.self)) }

  /// A number and, behind a colon, another one.
  private static func pair(_ field: some Collection<UInt8>, radix: Int) -> (Int, UInt64?)? {
    let parts = String(decoding: field, as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = Int(parts[0]), first >= 0 else { return nil }
    return (first, parts.count == 2 ? UInt64(parts[1], radix: radix) : nil)
  }

  /// Appends the bytes, with control characters and the percent sign encoded, as in `%0A`.
  static func append(_ bytes: [UInt8], to line: inout [UInt8]) {
    for byte in bytes {
      if byte < 0x20 || byte == UInt8(ascii: "%") {
        let digits = String(byte, radix: 16)
        line.append(contentsOf: (digits.count == 1 ? "%0" : "%").utf8)
        line.append(contentsOf: digits.utf8)
      } else {
        line.append(byte)
      }
    }
  }

  private static func size(_ field: some Collection<UInt8>) -> PixelSize? {
    let sides = String(decoding: field, as: UTF8.self).split(separator: "x").compactMap { Int($0) }
    return sides.count == 2 ? PixelSize(sides[0], sides[1]) : nil
  }

  static func path(_ field: some Collection<UInt8>) -> RawPath { RawPath(percentEncoded: Array(field)[...]) }
}

extension IndexEntry {
  /// Whether a file in the place of an output is the source or may be, by another mount or path. A copy is none.
  func isSource(_ file: FileState, of output: ConversionOutput) -> Bool {
    guard let own = try? FileState(of: source) else { return false }
    return output.format == nil ? own.isSameFile(as: file) : own.mayBeSameFile(as: file)
  }

  /// Whether a file may be an output of 0.10.0, of which the index has the length alone.
  func isPlausible(_ output: ConversionOutput, _ body: ByteSource, modified: Int) -> Bool {
    let (path, name) = (output.path.bytes, String(decoding: output.path.name, as: UTF8.self))
    guard let format = output.format else {
      return path.starts(with: SiteNames.originals)
        ? modified == self.modified
        : path.starts(with: SiteNames.files) || name.hasPrefix("index") && name.hasSuffix(".html")
    }
    let start = (try? body.read(at: 0, length: 16)) ?? []
    let signatures: [ImageFormat: String] = [
      .jpeg: "\u{FF}\u{D8}", .png: "\u{89}PNG", .gif: "GIF8", .webp: "RIFF", .tiff: "II", .jpegXL: "\u{FF}\u{A}",
    ]
    let signature = (signatures[format] ?? "").unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    return start.starts(with: signature)
      && format.fileExtensions.contains { name.lowercased().hasSuffix("." + $0) }
  }

  /// Parses a line, without its line feed. Nil if it is invalid.
  init?(line: some Collection<UInt8>) {
    let fields = line.split(separator: Self.tab, omittingEmptySubsequences: false)
    guard (9...Self.maxFields).contains(fields.count), (fields.count - 5) % 4 < 2, let key = Self.key(fields[0]),
      let modified = Self.number(fields[1]), let (byteCount, disk) = Self.pair(fields[2], radix: 10)
    else { return nil }
    let token = fields[3].split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    self.init(
      key: key, source: Self.path(fields[4]), modified: modified, byteCount: byteCount, disk: disk,
      token: String(decoding: token[token.count - 1], as: UTF8.self), outputs: [])
    if fields.count.isMultiple(of: 2) { sourceSize = fields.last.flatMap { Self.size($0) } }
    for start in stride(from: 5, to: fields.count - 3, by: 4) {
      let name = String(decoding: fields[start + 2], as: UTF8.self)
      let format = ImageFormat(rawValue: name)
      guard let size = Self.size(fields[start + 1]), let (bytes, digest) = Self.pair(fields[start + 3], radix: 16),
        format != nil || name == Self.noFormat, RootFolder.isPlain(Self.path(fields[start]).bytes)
      else { return nil }
      outputs.append(
        ConversionOutput(
          path: Self.path(fields[start]), size: size, format: format, byteCount: bytes, digest: digest))
    }
  }
}
