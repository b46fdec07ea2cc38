import HEIFContainer
import ThumbnailCore

/// Parses the table of contents of a HEIF or AVIF file: the primary image, its tiles, and a thumbnail of it.
///
/// libheif applies the file's rotation, mirroring and cropping. So an image that is left to libheif has the size after
/// them, and its `orientation` is 1. The EXIF orientation, which repeats them, is ignored as the standard requires.
struct HEIFHeader: HeaderParser {
  private enum Awaiting {
    case sniffed
    case box
    case meta
    case grid
  }

  /// The longest `meta` box that is read, in bytes. An image of thousands of tiles needs some hundred KiB.
  static let longestMeta = 1 << 20
  /// The most boxes before it.
  static let mostBoxes = 1000

  private(set) var draft: ImageProbe?
  private(set) var isSettled = false
  private let format: ImageFormat
  private var awaiting = Awaiting.sniffed
  private var position = 0
  private var boxes = 0
  private var items: HEIFItems?
  /// The grids whose content has not been read, and the content of the others.
  private var unread: [HEIFItem] = []
  private var grids: [UInt32: [UInt8]] = [:]

  init(format: ImageFormat) { self.format = format }

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    switch awaiting {
    case .sniffed:
      awaiting = .box
      return 0..<BoxHeader.mostBytes
    case .box:
      return try parseBox(bytes)
    case .meta:
      return try parseMeta(bytes)
    case .grid:
      grids[unread.removeFirst().id] = bytes.array
      return try nextGrid()
    }
  }

  private mutating func parseBox(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int> {
    let box: BoxHeader
    do throws(CodecError) { box = try BoxHeader(bytes.array) } catch { throw explained(error) }
    // A box that reaches to the end of the file is the last.
    let length = box.length ?? max(box.headerLength, bytes.count)
    boxes += 1
    guard boxes < Self.mostBoxes else { throw damaged("no table of contents") }
    if box.kind == "meta" {
      guard length <= Self.longestMeta else { throw damaged("its table of contents has \(length) bytes") }
      awaiting = .meta
      position += box.headerLength
      return position..<position + length - box.headerLength
    }
    let (next, overflow) = position.addingReportingOverflow(length)
    guard !overflow, next < 1 << 48 else { throw damaged("a box of \(length) bytes") }
    position = next
    return next..<next + BoxHeader.mostBytes
  }

  private mutating func parseMeta(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    let items: HEIFItems
    do throws(CodecError) { items = try HEIFItems(meta: bytes.array, at: position) } catch { throw explained(error) }
    self.items = items
    for item in [items.primary, items.alpha(of: items.primary)].compactMap({ $0.flatMap(items.item) }) {
      guard let place = item.grid else { continue }
      if place.lowerBound >= position, place.upperBound <= position + bytes.count {
        grids[item.id] = bytes.slice(place.lowerBound - position..<place.upperBound - position).array
      } else {
        unread.append(item)
      }
    }
    unread.sort { ($0.grid?.lowerBound ?? 0) < ($1.grid?.lowerBound ?? 0) }
    return try nextGrid()
  }

  /// The place of the next grid's content; nil when the image is known.
  private mutating func nextGrid() throws(CodecError) -> Range<Int>? {
    if let place = unread.first?.grid {
      awaiting = .grid
      return place
    }
    try finish()
    return nil
  }

  private mutating func finish() throws(CodecError) {
    guard let items else { throw damaged("no table of contents") }
    do throws(CodecError) {
      draft = try probe(HEIFTraits(items, items.primary, grids: grids), items)
    } catch {
      guard case .handedOver = error else { throw explained(error) }
      draft = try foreignProbe(items)
    }
    isSettled = true
  }

  private func probe(_ traits: HEIFTraits, _ items: HEIFItems) -> ImageProbe {
    var probe = ImageProbe(format: format, storedSize: traits.image.part.size)
    probe.orientation = traits.image.orientation
    probe.bitsPerSample = traits.image.bits
    probe.hasAlpha = traits.alpha != nil
    probe.channels = traits.alpha == nil ? 3 : 4
    let divisors = traits.image.chroma.divisors
    let chroma = traits.image.chroma == .none ? 0 : 2 / Double(divisors.across * divisors.down)
    probe.samplesPerPixel = 1 + chroma + (traits.alpha == nil ? 0 : 1)
    probe.heif = traits
    probe.codedLight = traits.codedLight
    probe.preview = EmbeddedPreview(items, of: traits)
    return probe
  }

  /// The probe of an image that libheif reads.
  private func foreignProbe(_ items: HEIFItems) throws(CodecError) -> ImageProbe {
    guard let primary = items.item(items.primary) else { throw damaged("no primary picture") }
    var probe = ImageProbe(format: format, storedSize: PixelSize(0, 0))
    var size = PixelSize(0, 0)
    // Transformations apply in the order of their associations; the size always precedes them.
    for property in primary.properties {
      switch property.value {
      case .extent(let found): size = found
      case .aperture(let aperture):
        if let part = try? aperture.part(of: size) { size = part.size }
      case .rotation(let turns) where turns & 1 == 1: size = PixelSize(size.height, size.width)
      case .bits(let bits): probe.bitsPerSample = bits.first ?? 8
      case .colour(let colour): probe.codedLight = CodedLight(colour)
      default: break
      }
    }
    probe.storedSize = size
    probe.hasAlpha = items.alpha(of: primary.id) != nil
    probe.channels = probe.hasAlpha == true ? 4 : 3
    probe.samplesPerPixel = probe.hasAlpha == true ? 2.5 : 1.5
    return probe
  }

  private func explained(_ error: CodecError) -> CodecError {
    switch error {
    case .truncated: cutOff()
    case .handedOver(let reason): damaged(reason)
    default: error
    }
  }

  /// Whether a box extends beyond the end of the file.
  static func endsEarly(_ body: ByteSource) -> Bool {
    var offset = 0
    for _ in 0..<mostBoxes where offset < body.count {
      guard let bytes = try? body.read(at: offset, length: BoxHeader.mostBytes) else { return false }
      guard let box = try? BoxHeader(bytes) else { return true }
      // A box without a length ends with the file.
      guard let length = box.length else { return false }
      guard length < 1 << 48 else { return true }
      offset += length
    }
    return offset > body.count
  }
}
