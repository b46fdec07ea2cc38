import ThumbnailCore

/// Detects a file's format from its first bytes, regardless of its name or Content-Type.
enum Sniffer {
  /// The bytes that suffice for all binary formats.
  static let shortLength = 32
  /// The bytes that suffice for most text formats.
  static let longLength = 1024
  /// The number of bytes in which an SVG's first element must begin, after comments, white space and a DOCTYPE.
  static let longestProlog = 65_536

  enum Verdict: Equatable {
    case format(ImageFormat)
    /// More bytes are needed: up to `longLength`, and then up to `longestProlog`.
    case needsMore
    case other(looksLike: String)
  }

  /// Sniffs the first bytes of a body; `isAll` if there are no more, or the maximum has been read.
  static func sniff(_ bytes: HeaderBytes, isAll: Bool) -> Verdict {
    if let format = binaryFormat(bytes) { return .format(format) }
    if let name = binaryName(bytes) { return .other(looksLike: name) }
    guard isAll || bytes.count >= longLength else { return .needsMore }
    let start = bytes.has([0xEF, 0xBB, 0xBF]) ? 3 : 0
    switch XMLProlog.pass(bytes.array.dropFirst(start)) {
    case .element("svg", _): return .format(.svg)
    case .element("html", _): return .other(looksLike: "an HTML page")
    case .unfinished where !isAll: return .needsMore
    default: return text(bytes)
    }
  }

  private static func binaryFormat(_ bytes: HeaderBytes) -> ImageFormat? {
    for (signature, format) in signatures where bytes.has(signature) { return format }
    if bytes.has("RIFF"), bytes.has("WEBP", at: 8) { return .webp }
    if bytes.has("P"), let kind = bytes[1], let blank = bytes[2] {
      let isNumbered = (0x31...0x37).contains(kind) || kind == 0x46 || kind == 0x66
      if isNumbered, [0x20, 0x09, 0x0A, 0x0D].contains(blank) { return .pnm }
    }
    if isBitmap(bytes) { return .bmp }
    if bytes.has("ftypcrx ", at: 4) { return .raw }
    return heifFormat(bytes)
  }

  /// A BMP's reserved words are zero, or hold an OS/2 pointer's hot spot before a header of a known length: ordinary
  /// text that begins with "BM" has neither. OS/2 puts several bitmaps into an array, and a DIB has no file header.
  private static func isBitmap(_ bytes: HeaderBytes) -> Bool {
    if bytes.has("BM") {
      return bytes.bigEndian(at: 6, count: 4) == 0
        || bytes.littleEndian(at: 14, count: 4).map(BitmapHeader.lengths.contains) == true
    }
    return bytes.has("BA") && bytes.has("BM", at: 14) || BitmapHeader.isBare(bytes)
  }

  private static let signatures: [([UInt8], ImageFormat)] = [
    ([0xFF, 0xD8, 0xFF], .jpeg),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
    (Array("GIF87a".utf8), .gif), (Array("GIF89a".utf8), .gif),
    ([0x49, 0x49, 0x2A, 0], .tiff), ([0x4D, 0x4D, 0, 0x2A], .tiff),
    ([0x49, 0x49, 0x2B, 0], .tiff), ([0x4D, 0x4D, 0, 0x2B], .tiff),
    ([0xFF, 0x0A], .jpegXL), ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jpegXL),
    ([0xFF, 0x4F, 0xFF, 0x51], .jpeg2000), ([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20], .jpeg2000),
    ([0x76, 0x2F, 0x31, 0x01], .openEXR), (Array("%PDF-".utf8), .pdf),
    ([0, 0, 1, 0], .ico), ([0, 0, 2, 0], .ico),
    // The signatures that some cameras write in place of a TIFF's; other RAW files are TIFFs (`RAWHeader`).
    (Array("FUJIFILMCCD-RAW".utf8), .raw), (Array("\0MRM".utf8), .raw), (Array("IIU\0".utf8), .raw),
    (Array("IIRO".utf8), .raw), (Array("IIRS".utf8), .raw), (Array("MMOR".utf8), .raw),
    (Array("#?R".utf8), .radiance),
  ]

  private static let avifBrands = ["avif", "avis"]
  private static let heifBrands = [
    "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "mif2", "msf1", "miaf",
  ]

  /// HEIF and AVIF share a container; the brands distinguish them, the compatible ones if the major one is common to
  /// both.
  private static func heifFormat(_ bytes: HeaderBytes) -> ImageFormat? {
    guard bytes.has("ftyp", at: 4), let length = bytes.bigEndian(at: 0, count: 4) else { return nil }
    let end = min(length, bytes.count)
    let positions = [8] + Array(stride(from: 16, to: max(16, end - 3), by: 4))
    let brands = positions.map { String(decoding: bytes.slice($0..<$0 + 4).array, as: UTF8.self) }
    if brands.contains(where: avifBrands.contains) { return .avif }
    return brands.contains(where: heifBrands.contains) ? .heif : nil
  }

  private static func binaryName(_ bytes: HeaderBytes) -> String? {
    if bytes.has("ftyp", at: 4) { return CodecError.video }
    // QuickTime files may begin with other boxes.
    if bytes.has("moov", at: 4) || bytes.has("mdat", at: 4) || bytes.has("wide", at: 4) { return CodecError.video }
    if bytes.has("RIFF") { return bytes.has("WAVE", at: 8) ? "a sound file" : CodecError.video }
    for (signature, name) in names where bytes.has(signature) { return name }
    return nil
  }

  private static let names: [([UInt8], String)] = [
    (Array("PK\u{3}\u{4}".utf8), "a ZIP archive"), ([0x1F, 0x8B], CodecError.gzip), ([0x42, 0x5A, 0x68], "bzip2 data"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz data"), ([0x28, 0xB5, 0x2F, 0xFD], "Zstandard data"),
    ([0x1A, 0x45, 0xDF, 0xA3], CodecError.video), ([0, 0, 1, 0xBA], CodecError.video),
    (Array("OggS".utf8), "a sound or video file"),
    (Array("ID3".utf8), "a sound file"), (Array("fLaC".utf8), "a sound file"),
    (Array("8BPS".utf8), "a Photoshop document"),
    (Array("SQLite format 3".utf8), "an SQLite database"), ([0x7F, 0x45, 0x4C, 0x46], "a program"),
  ]

  private static func text(_ bytes: HeaderBytes) -> Verdict {
    let start = bytes.has([0xEF, 0xBB, 0xBF]) ? 3 : 0
    let all = bytes.slice(start..<min(bytes.count, longLength)).array
    guard !all.isEmpty else { return .other(looksLike: "nothing") }
    let isText = all.allSatisfy { $0 >= 0x20 || (0x09...0x0D).contains($0) || $0 == 0x1B }
    let words = String(decoding: all, as: UTF8.self).lowercased().drop { $0.isWhitespace }
    if isText || words.hasPrefix("<") {
      if words.hasPrefix("<") && words.contains("<svg") && !words.contains("<html") { return .format(.svg) }
      if words.hasPrefix("<!doctype html") || words.contains("<html") || words.contains("<head")
        || words.contains("<body") || words.hasPrefix("<script")
      {
        return .other(looksLike: "an HTML page")
      }
      if words.hasPrefix("<") { return .other(looksLike: "XML") }
      if words.hasPrefix("{") || words.hasPrefix("[") { return .other(looksLike: "JSON") }
    }
    if isText { return .other(looksLike: "plain text") }
    let first = all.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
    return .other(looksLike: "unknown data that begins with \(first.joined(separator: " "))")
  }
}
