package import ThumbnailCore

/// What the container of a film says before anything is decoded: MP4, QuickTime, Matroska, WebM and AVI. Of MPEG streams
/// and ASF only the kind is found.
package struct FilmHeader {
  /// The demuxer of ffmpeg, by content.
  let demuxer: String
  package let mediaType: String
  /// The running time, if it is stated.
  package private(set) var seconds: Double?
  /// The embedded cover, a JPEG or PNG.
  package private(set) var cover: Range<Int>?

  private let film: ByteSource
  private var ticksPerSecond = 1000.0
  /// The parts that may still be read: a hostile file has many.
  private var partsLeft: Int
  /// A longer cover is not read, in bytes.
  private static let longestCover = 32 << 20

  /// Reads some kilobytes of a film. Nil for other files.
  ///
  /// - Parameter mostParts: The most parts that are read: the running time is among the first, a cover may be far behind.
  package init?(_ film: ByteSource, mostParts: Int = 10_000) {
    (self.film, partsLeft) = (film, mostParts)
    guard let start = try? film.read(at: 0, length: 64), start.count >= 12 else { return nil }
    func has(_ text: String, at position: Int) -> Bool { start.dropFirst(position).starts(with: text.utf8) }
    switch start {
    case _ where has("ftyp", at: 4):
      (demuxer, mediaType) = (
        "mov", has("qt  ", at: 8) ? "video/quicktime" : has("3g", at: 8) ? "video/3gpp" : "video/mp4"
      )
    case _ where ["moov", "mdat", "wide", "free", "skip"].contains { has($0, at: 4) }:
      (demuxer, mediaType) = ("mov", "video/quicktime")
    case _ where start.starts(with: [0x1A, 0x45, 0xDF, 0xA3]):
      let isWebM = String(decoding: start, as: UTF8.self).contains("webm")
      (demuxer, mediaType) = ("matroska", isWebM ? "video/webm" : "video/x-matroska")
    case _ where has("RIFF", at: 0) && has("AVI ", at: 8): (demuxer, mediaType) = ("avi", "video/x-msvideo")
    case _ where start.starts(with: [0, 0, 1, 0xBA]): (demuxer, mediaType) = ("mpeg", "video/mpeg")
    case _ where start.starts(with: [0x30, 0x26, 0xB2, 0x75]): (demuxer, mediaType) = ("asf", "video/x-ms-wmv")
    case _ where start[0] == 0x47 || start[4] == 0x47:
      // Packets of 188 bytes, with a time of four bytes before them on cameras.
      guard let next = try? film.read(at: start[0] == 0x47 ? 188 : 196, length: 1), next == [0x47] else { return nil }
      (demuxer, mediaType) = ("mpegts", "video/mp2t")
    default: return nil
    }
    switch demuxer {
    case "mov": walkBoxes(in: 0..<film.count, of: "")
    case "matroska": walkElements(in: 0..<film.count, of: 0)
    case "avi":
      if has("avih", at: 24) {
        seconds = Double(number(at: 32, 4).byteSwapped >> 32) * Double(number(at: 48, 4).byteSwapped >> 32) / 1e6
      }
    default: break
    }
    if let known = seconds, !(known.isFinite && known > 0) { seconds = nil }
    if let range = cover, range.isEmpty || range.count > Self.longestCover { cover = nil }
  }

  /// A big-endian number; bytes behind the end are zero.
  private func number(at position: Int, _ length: Int) -> UInt64 {
    let bytes = (try? film.read(at: position, length: length)) ?? []
    return (bytes + [UInt8](repeating: 0, count: length - bytes.count)).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: (try? film.read(at: range.lowerBound, length: min(range.count, 64))) ?? [], as: UTF8.self)
  }

  /// Walks boxes (ISO/IEC 14496-12) up to the running time and the cover, which iTunes' metadata have.
  private mutating func walkBoxes(in range: Range<Int>, of parent: String) {
    var position = range.lowerBound
    while position + 8 <= range.upperBound, partsLeft > 0 {
      partsLeft -= 1
      let kind = text(position + 4..<position + 8)
      var (start, length) = (position + 8, Int(number(at: position, 4)))
      if length == 1 { (start, length) = (position + 16, Int(clamping: number(at: position + 8, 8))) }
      if length == 0 { length = range.upperBound - position }
      guard length >= start - position, length <= range.upperBound - position else { return }
      let content = start..<position + length
      switch (parent, kind) {
      case ("", "moov"): return walkBoxes(in: content, of: kind)
      case ("moov", "udta"), ("meta", "ilst"), ("ilst", "covr"): walkBoxes(in: content, of: kind)
      case ("udta", "meta") where content.count > 4: walkBoxes(in: start + 4..<content.upperBound, of: kind)
      case ("moov", "mvhd"):
        let isLong = number(at: start, 1) == 1
        let scale = number(at: start + (isLong ? 20 : 12), 4)
        let ticks = isLong ? number(at: start + 24, 8) : number(at: start + 16, 4)
        // All ones: unknown.
        if ticks != (isLong ? .max : UInt64(UInt32.max)) { seconds = Double(ticks) / Double(scale) }
      case ("covr", "data") where content.count > 8 && cover == nil: cover = start + 8..<content.upperBound
      default: break
      }
      position += length
    }
  }

  /// Walks the elements of a Matroska file (RFC 9559) up to its end, or to one without a length.
  private mutating func walkElements(in range: Range<Int>, of parent: UInt64) {
    let (segment, info, attachments, attached): (UInt64, UInt64, UInt64, UInt64) = (
      0x1853_8067, 0x1549_A966, 0x1941_A469, 0x61A7
    )
    var position = range.lowerBound
    var (attachment, type, name): (Range<Int>?, String, String) = (nil, "", "")
    while position < range.upperBound, partsLeft > 0 {
      partsLeft -= 1
      let idLength = number(at: position, 1).leadingZeroBitCount - 55
      let sizeLength = number(at: position + idLength, 1).leadingZeroBitCount - 55
      guard idLength <= 4, sizeLength <= 8 else { return }
      let id = number(at: position, idLength)
      let start = position + idLength + sizeLength
      let most = UInt64(1) << (7 * sizeLength) - 1
      let size = number(at: position + idLength, sizeLength) & most
      let isOpen = size == most
      guard !isOpen || id == segment, start <= range.upperBound else { return }
      let end = isOpen ? range.upperBound : min(range.upperBound, start + Int(size))
      switch (parent, id) {
      case (0, segment), (segment, info), (segment, attachments), (attachments, attached):
        walkElements(in: start..<end, of: id)
      case (info, 0x2A_D7B1): ticksPerSecond = 1e9 / Double(number(at: start, min(8, end - start)))
      case (info, 0x4489):
        let bits = number(at: start, min(8, end - start))
        let ticks = end - start == 4 ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)
        seconds = ticks / ticksPerSecond
      case (attached, 0x466E): name = text(start..<end)
      case (attached, 0x4660): type = text(start..<end)
      case (attached, 0x465C): attachment = start..<end
      default: break
      }
      position = end
    }
    if let attachment, type.hasPrefix("image/"), cover == nil || name.hasPrefix("cover.") { cover = attachment }
  }
}
