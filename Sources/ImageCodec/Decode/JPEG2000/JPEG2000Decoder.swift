import CLazyLibraries
import COpenJPEG
import Glibc
import ThumbnailCore

/// Owns OpenJPEG's decoder of a codestream, and reads the bytes for it. One thread at a time may use it.
///
/// OpenJPEG's own reader of JP2 files is not used: it applies a palette once, but a tiled image has a palette for each
/// tile.
final class JPEG2000Decoder {
  /// One component, of the header or a decoded tile.
  struct Component: Sendable, Equatable {
    /// The distances of samples in pixels of the reference grid.
    let across: Int
    let down: Int
    let bits: Int
    let isSigned: Bool
    /// The samples' columns and rows in the whole component, at the size that is decoded.
    let columns: Range<Int>
    let rows: Range<Int>

    var size: PixelSize { PixelSize(columns.count, rows.count) }
  }

  /// How often the image is halved.
  let halvings: Int
  /// How often it could be.
  let mostHalvings: Int
  /// Tiles across and down.
  let tiles: PixelSize
  /// The components of the whole image.
  let components: [Component]
  /// The tiles on the reference grid.
  private let grid: copj_layout
  private let codec: UnsafeMutablePointer<opj_codec_t?>
  private let stream: UnsafeMutablePointer<opj_stream_t?>
  private let image: UnsafeMutablePointer<opj_image_t>
  private let reader: Reader

  /// More tiles than any image has: OpenJPEG reserves some kilobytes for each.
  private static let mostTiles = 16_384
  private static let mostComponents = 64

  /// Reads the header of a codestream. With `isTolerant` the existing part of a truncated tile is decoded.
  init(_ codestream: ByteSource, halvings: Int = 0, isTolerant: Bool = false) throws(CodecError) {
    if clazy_load_openjp2() != nil { throw .decoderUnavailable(.jpeg2000) }
    try Self.check(codestream)
    let reader = Reader(codestream)
    // OpenJPEG calls back only while this object, which owns the reader, lives.
    let stream = copj_stream(
      Unmanaged.passUnretained(reader).toOpaque(), codestream.count,
      { buffer, length, user in Reader.from(user)?.read(buffer, length) ?? .max },
      { length, user in Reader.from(user)?.skip(Int(length)) ?? -1 },
      { position, user in Reader.from(user)?.seek(Int(position)) == true ? 1 : 0 })
    guard let stream else { throw .outOfMemory }
    guard let codec = copj_open(UInt32(halvings), !isTolerant) else {
      opj_stream_destroy(stream)
      throw .outOfMemory
    }
    var found: UnsafeMutablePointer<opj_image_t>?
    guard opj_read_header(stream, codec, &found) != 0, let image = found else {
      opj_destroy_codec(codec)
      opj_stream_destroy(stream)
      throw reader.failure(.header, "OpenJPEG cannot read the header")
    }
    let layout = copj_layout(codec, image.pointee.numcomps)
    (self.codec, self.stream, self.image, self.reader, self.halvings) = (codec, stream, image, reader, halvings)
    grid = layout
    tiles = PixelSize(Int(layout.across), Int(layout.down))
    mostHalvings = Int(min(layout.halvings, 32))
    components = Self.components(of: image.pointee, halvings: halvings)
  }

  deinit {
    opj_image_destroy(image)
    opj_destroy_codec(codec)
    opj_stream_destroy(stream)
  }

  /// Refuses sizes for which OpenJPEG would reserve memory without a bound, by the marker segment SIZ, which must come
  /// first.
  private static func check(_ codestream: ByteSource) throws(CodecError) {
    let header = HeaderBytes((try? codestream.read(at: 0, length: 42)) ?? [])
    func number(_ index: Int) -> Int { header.bigEndian(at: index, count: 4) ?? 0 }
    guard let components = header.bigEndian(at: 40, count: 2) else { throw .truncated(detail: "in the header") }
    let (tileWidth, tileHeight) = (number(24), number(28))
    let (width, height) = (number(8) - number(32), number(12) - number(36))
    guard header.has([0xFF, 0x4F, 0xFF, 0x51]), tileWidth > 0, tileHeight > 0, width > 0, height > 0, components > 0
    else { throw .damaged(.header, detail: "the header has no tiles") }
    let (across, down) = ((width + tileWidth - 1) / tileWidth, (height + tileHeight - 1) / tileHeight)
    guard across * down <= mostTiles, components <= mostComponents else {
      throw .unsupported("a JPEG 2000 of \(components) components in \(across)x\(down) tiles")
    }
  }

  private static func components(of image: opj_image_t, halvings: Int) -> [Component] {
    // OpenJPEG gives positions in the component, and sizes as they are decoded.
    (0..<Int(image.numcomps)).map { index in
      let component = image.comps[index]
      let (across, down) = (Int(component.dx), Int(component.dy))
      let (left, top) = (place(Int(image.x0), across, halvings), place(Int(image.y0), down, halvings))
      let (right, bottom) = (place(Int(image.x1), across, halvings), place(Int(image.y1), down, halvings))
      return Component(
        across: Int(max(1, component.dx)), down: Int(max(1, component.dy)), bits: Int(component.prec),
        isSigned: component.sgnd != 0, columns: left..<max(left, right), rows: top..<max(top, bottom))
    }
  }

  /// A place of the reference grid in a component with a sample for each `step`, after `halvings`, rounded up as in the
  /// standard.
  private static func place(_ grid: Int, _ step: Int, _ halvings: Int) -> Int {
    ((grid + max(1, step) - 1) / max(1, step) + (1 << halvings) - 1) >> halvings
  }

  /// The columns of a component before which a column of tiles ends.
  func end(ofTileColumn index: Int, in component: Component) -> Int {
    Self.place(Int(grid.left) + (index + 1) * Int(grid.width), component.across, halvings)
  }

  /// The rows of a component before which a row of tiles ends.
  func end(ofTileRow index: Int, in component: Component) -> Int {
    Self.place(Int(grid.top) + (index + 1) * Int(grid.height), component.down, halvings)
  }

  /// A component of a decoded tile.
  struct TileComponent {
    let component: Component
    /// The samples of its size; nil if it has none, as in a small tile at a reduced size.
    let samples: UnsafePointer<Int32>?
  }

  /// Decodes a tile, and lends its components with their samples until the next one is decoded.
  func withTile(_ index: Int, _ body: ([TileComponent]) throws(CodecError) -> Void) throws(CodecError) {
    guard opj_get_decoded_tile(codec, stream, image, UInt32(index)) != 0 else {
      throw reader.failure(.decode, "tile \(index)")
    }
    var tile: [TileComponent] = []
    for (index, component) in Self.components(of: image.pointee, halvings: halvings).enumerated() {
      let decoded = image.pointee.comps[index]
      let isEmpty = component.columns.isEmpty || component.rows.isEmpty
      guard
        isEmpty
          || decoded.data != nil && Int(decoded.w) == component.columns.count
            && Int(decoded.h) == component.rows.count
      else { throw reader.failure(.decode, "component \(index) is missing") }
      tile.append(TileComponent(component: component, samples: isEmpty ? nil : UnsafePointer(decoded.data)))
    }
    guard tile.count == components.count else { throw .damaged(.decode, detail: "a tile has other components") }
    try body(tile)
  }
}

extension JPEG2000Decoder {
  /// The position of OpenJPEG in a codestream, and why it got no bytes.
  private final class Reader {
    private let bytes: ByteSource
    private var position = 0
    private var readError: String?

    init(_ bytes: ByteSource) { self.bytes = bytes }

    static func from(_ user: UnsafeMutableRawPointer?) -> Reader? {
      user.map { Unmanaged<Reader>.fromOpaque($0).takeUnretainedValue() }
    }

    /// OpenJPEG's buffer has room for `length` bytes. The greatest number means the end.
    func read(_ buffer: UnsafeMutableRawPointer?, _ length: Int) -> Int {
      guard let buffer, length > 0 else { return .max }
      do {
        let got = try bytes.read(at: position, into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
        position += got
        return got > 0 ? got : .max
      } catch {
        readError = "\(error)"
        return .max
      }
    }

    /// Returns the number of skipped bytes; -1 if there are fewer.
    func skip(_ length: Int) -> Int64 {
      guard length >= 0, length <= bytes.count - position else { return -1 }
      position += length
      return Int64(length)
    }

    func seek(_ place: Int) -> Bool {
      guard (0...bytes.count).contains(place) else { return false }
      position = place
      return true
    }

    func failure(_ stage: CodecError.Stage, _ detail: String) -> CodecError {
      if let readError { return .unreadableBody(detail: readError) }
      let end = try? bytes.read(at: max(0, bytes.count - 2), length: 2)
      return end == [0xFF, 0xD9] ? .damaged(stage, detail: detail) : .truncated(detail: detail)
    }
  }
}
