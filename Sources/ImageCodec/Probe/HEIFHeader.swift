import ThumbnailCore

/// Parses the properties of the primary image of a HEIF or AVIF file.
///
/// The decoder applies the file's rotation, mirroring and cropping, so the size is the one after them and `orientation`
/// is 1. The EXIF orientation, which repeats them, is ignored as the standard requires.
struct HEIFHeader: HeaderParser {
  private enum Awaiting {
    case sniffed
    case box
    case meta
  }

  /// The longest `meta` box that is read, in bytes. An image of thousands of tiles needs some hundred KiB.
  private static let longestMeta = 1 << 20

  private(set) var draft: ImageProbe?
  private(set) var isSettled = false
  private let format: ImageFormat
  private var awaiting = Awaiting.sniffed
  private var position = 0
  private var boxes = 0

  init(format: ImageFormat) { self.format = format }

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    switch awaiting {
    case .sniffed:
      awaiting = .box
      return 0..<16
    case .box:
      guard let box = Box(bytes, at: 0) else { throw cutOff() }
      boxes += 1
      guard box.length > 0, boxes < 1000 else { throw damaged("no table of contents") }
      if box.kind == "meta" {
        guard box.length <= Self.longestMeta else { throw damaged("its table of contents has \(box.length) bytes") }
        awaiting = .meta
        return position + box.header..<position + box.length
      }
      let (next, overflow) = position.addingReportingOverflow(box.length)
      guard !overflow, next < 1 << 48 else { throw damaged("a box of \(box.length) bytes") }
      position = next
      return next..<next + 16
    case .meta:
      draft = try parseMeta(bytes)
      isSettled = true
      return nil
    }
  }

  /// Whether a box extends beyond the end of the file.
  static func endsEarly(_ body: ByteSource) -> Bool {
    var offset = 0
    for _ in 0..<1000 where offset < body.count {
      guard let header = try? body.read(at: offset, length: 16) else { return false }
      // A length of 0 means up to the end of the file, so it cannot exceed it.
      if header.prefix(4).allSatisfy({ $0 == 0 }) { return false }
      guard let box = Box(HeaderBytes(header), at: 0), box.length < 1 << 48 else { return true }
      offset += box.length
    }
    return offset > body.count
  }

  /// One box of the container: the range of its content in the bytes that it was parsed from.
  private struct Box {
    let kind: String
    let header: Int
    let length: Int

    init?(_ bytes: HeaderBytes, at start: Int) {
      guard let short = bytes.bigEndian(at: start, count: 4), bytes.count >= start + 8 else { return nil }
      kind = String(decoding: bytes.slice(start + 4..<start + 8).array, as: UTF8.self)
      switch short {
      case 0:  // to the end of the file
        (header, length) = (8, max(8, bytes.count - start))
      case 1:
        guard bytes[start + 8] == 0, let long = bytes.bigEndian(at: start + 9, count: 7), long >= 16 else { return nil }
        (header, length) = (16, long)
      default:
        guard short >= 8 else { return nil }
        (header, length) = (8, short)
      }
    }
  }

  /// The consecutive boxes in `bytes` from `start`, with their contents.
  private func boxes(in bytes: HeaderBytes, from start: Int) -> [(kind: String, content: HeaderBytes)] {
    var found: [(String, HeaderBytes)] = []
    var offset = start
    while found.count < 4096, let box = Box(bytes, at: offset) {
      found.append((box.kind, bytes.slice(offset + box.header..<max(offset + box.header, offset + box.length))))
      offset += box.length
    }
    return found
  }

  private func parseMeta(_ bytes: HeaderBytes) throws(CodecError) -> ImageProbe {
    let children = boxes(in: bytes, from: 4)
    guard let primary = children.first(where: { $0.kind == "pitm" })?.content,
      let item = primary.bigEndian(at: 4, count: primary[0] == 0 ? 2 : 4),
      let properties = children.first(where: { $0.kind == "iprp" })?.content
    else { throw damaged("no primary picture") }
    let sections = boxes(in: properties, from: 0)
    let list = sections.first { $0.kind == "ipco" }.map { boxes(in: $0.content, from: 0) } ?? []
    var indices: [Int] = []
    for section in sections where section.kind == "ipma" { indices += associations(section.content, of: item) }
    var probe = ImageProbe(format: format, storedSize: PixelSize(0, 0))
    var size = PixelSize(0, 0)
    // Transformations apply in the order of their associations; the size always precedes them.
    for index in indices where list.indices.contains(index - 1) {
      let (kind, content) = list[index - 1]
      switch kind {
      case "ispe":
        guard let width = content.bigEndian(at: 4, count: 4), let height = content.bigEndian(at: 8, count: 4) else {
          throw cutOff()
        }
        size = PixelSize(width, height)
      case "clap": size = cropped(size, by: content)
      case "irot" where (content[0] ?? 0) & 1 == 1: size = PixelSize(size.height, size.width)
      case "pixi": probe.bitsPerSample = content[5] ?? 8
      default: break
      }
    }
    probe.storedSize = size
    probe.hasAlpha = list.contains {
      $0.kind == "auxC" && String(decoding: $0.content.array, as: UTF8.self).contains("alpha")
    }
    probe.channels = probe.hasAlpha == true ? 4 : 3
    probe.samplesPerPixel = probe.hasAlpha == true ? 2.5 : 1.5
    return probe
  }

  /// The indices, from 1, of an item's properties.
  private func associations(_ bytes: HeaderBytes, of item: Int) -> [Int] {
    guard let version = bytes[0], let flags = bytes[3], let entries = bytes.bigEndian(at: 4, count: 4) else {
      return []
    }
    let itemLength = version < 1 ? 2 : 4
    let indexLength = flags & 1 == 1 ? 2 : 1
    var offset = 8
    for _ in 0..<entries {
      guard let found = bytes.bigEndian(at: offset, count: itemLength), let count = bytes[offset + itemLength] else {
        return []
      }
      offset += itemLength + 1
      if found == item {
        return (0..<count).compactMap { number in
          bytes.bigEndian(at: offset + number * indexLength, count: indexLength)
            .map { $0 & (indexLength == 2 ? 0x7FFF : 0x7F) }
        }
      }
      offset += count * indexLength
    }
    return []
  }

  /// The size after a clean aperture (`clap`), which is given as two fractions.
  private func cropped(_ size: PixelSize, by content: HeaderBytes) -> PixelSize {
    let numbers = (0..<4).compactMap { content.bigEndian(at: 4 * $0, count: 4) }
    guard numbers.count == 4, numbers[1] > 0, numbers[3] > 0 else { return size }
    let (width, height) = (numbers[0] / numbers[1], numbers[2] / numbers[3])
    guard width > 0, height > 0, width <= size.width, height <= size.height else { return size }
    return PixelSize(width, height)
  }
}
