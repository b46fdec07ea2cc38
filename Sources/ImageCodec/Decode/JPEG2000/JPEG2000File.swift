import HEIFContainer
import ThumbnailCore

/// A JPEG 2000: a JP2 file, or a bare codestream.
struct JPEG2000File {
  private let boxes: JP2File?
  private let codestream: ByteSource

  init(_ body: ByteSource) throws(CodecError) {
    guard (try? body.read(at: 0, length: 2)) != [0xFF, 0x4F] else {
      (boxes, codestream) = (nil, try Self.inOrder(body))
      return
    }
    do {
      let file = try JP2File(length: body.count) { try body.read(at: $0, length: $1) }
      (boxes, codestream) = (file, try Self.inOrder(body.part(file.codestream)))
    } catch let error as HEIFError {
      throw CodecError(error)
    } catch {
      throw .unreadableBody(detail: "\(error)")
    }
  }

  private static let mostParts = 1 << 18

  /// The codestream with all parts of a tile together, which may stand between those of others: OpenJPEG ends the
  /// process then.
  private static func inOrder(_ source: ByteSource) throws(CodecError) -> ByteSource {
    var parts: [(tile: Int, range: Range<Int>)] = []
    var (place, start) = (2, 0)
    let hasEnd = try source.bytes(at: max(0, source.count - 2), length: 2) == endMarker
    while parts.count < mostParts {
      let head = HeaderBytes(try source.bytes(at: place, length: 10))
      guard let marker = head.bigEndian(at: 0, count: 2), let length = head.bigEndian(at: 2, count: 2) else { break }
      guard marker == 0xFF90, let tile = head.bigEndian(at: 4, count: 2), let bytes = head.bigEndian(at: 6, count: 4)
      else {
        if !parts.isEmpty || length < 2 { break }
        place += 2 + length
        continue
      }
      if parts.isEmpty { start = place }
      // The last part may go to the end, before the marker there.
      let end = bytes == 0 ? source.count - (hasEnd ? 2 : 0) : place + bytes
      guard end > place else { break }
      parts.append((tile, place..<end))
      if end > source.count || bytes > 0 && bytes < 14 { break }
      place = end
      if bytes == 0 { break }
    }
    let changes = zip(parts, parts.dropFirst()).count { $0.tile != $1.tile }
    guard changes >= Set(parts.map(\.tile)).count, let last = parts.last else { return source }
    if last.range.upperBound > source.count { throw .truncated(detail: "in a tile") }
    var bytes = try source.bytes(at: 0, length: start)
    for (_, part) in parts.enumerated().sorted(by: { ($0.element.tile, $0.offset) < ($1.element.tile, $1.offset) }) {
      let length = bytes.count + 6..<bytes.count + 10
      bytes += try source.bytes(at: part.range.lowerBound, length: part.range.count)
      bytes.replaceSubrange(length, with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: part.range.count >> $0) })
    }
    bytes += try source.bytes(at: place, length: source.count - place)
    return .memory(hasEnd ? bytes : bytes + endMarker)
  }

  private static let endMarker: [UInt8] = [0xFF, 0xD9]

  /// The header's contents for an image after `halvings`; `frameCount` is the number of resolution levels.
  func probe(halvings: Int) throws(CodecError) -> ImageProbe {
    let decoder = try JPEG2000Decoder(codestream, halvings: halvings)
    let channels = try JPEG2000Channels(boxes, decoder.components)
    let size = try JPEG2000RowSource.finest(of: decoder.components).size
    var probe = ImageProbe(format: .jpeg2000, storedSize: size)
    // The mean of two palette indices is a different colour.
    probe.frameCount = boxes?.palette == nil ? decoder.mostHalvings + 1 : 1
    (probe.hasAlpha, probe.channels, probe.bitsPerSample) = (
      channels.hasAlpha, channels.count, channels.isDeep ? 16 : 8
    )
    // Each component's samples of a tile as numbers of 32 bits, and a row of tiles.
    let tiles = decoder.tiles
    let row = size.width * (size.height / max(1, tiles.height) + 1)
    let samples = decoder.components.reduce(0) { $0 + $1.size.pixelCount } / max(1, tiles.pixelCount)
    probe.blockBytes = 5 * samples + row * channels.count * (channels.isDeep ? 2 : 1)
    if case .memory(let bytes) = codestream { probe.blockBytes += bytes.count }
    return probe
  }

  /// The rows of the image after `halvings`. With `isTolerant` the existing part of truncated tiles is decoded.
  func rows(halvings: Int, isTolerant: Bool) throws(CodecError) -> JPEG2000RowSource {
    let decoder = try JPEG2000Decoder(codestream, halvings: halvings, isTolerant: isTolerant)
    return try JPEG2000RowSource(decoder, JPEG2000Channels(boxes, decoder.components))
  }
}
