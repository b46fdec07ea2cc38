import HEIFContainer
import ThumbnailCore

/// A JPEG 2000: a JP2 file, or a bare codestream.
struct JPEG2000File {
  private let boxes: JP2File?
  private let codestream: ByteSource

  init(_ body: ByteSource) throws(CodecError) {
    guard (try? body.read(at: 0, length: 2)) != [0xFF, 0x4F] else {
      (boxes, codestream) = (nil, body)
      return
    }
    do {
      let file = try JP2File(length: body.count) { try body.read(at: $0, length: $1) }
      (boxes, codestream) = (file, body.part(file.codestream))
    } catch let error as HEIFError {
      throw CodecError(error)
    } catch {
      throw .unreadableBody(detail: "\(error)")
    }
  }

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
    return probe
  }

  /// The rows of the image after `halvings`. With `isTolerant` the existing part of truncated tiles is decoded.
  func rows(halvings: Int, isTolerant: Bool) throws(CodecError) -> JPEG2000RowSource {
    let decoder = try JPEG2000Decoder(codestream, halvings: halvings, isTolerant: isTolerant)
    return try JPEG2000RowSource(decoder, JPEG2000Channels(boxes, decoder.components))
  }
}
