import Glibc
import ThumbnailCore

/// Decodes a JPEG 2000 with OpenJPEG at the requested resolution level, one row of tiles after the other.
final class JPEG2000RowSource: RowSource {
  let layout: RowLayout
  private let decoder: JPEG2000Decoder
  private let channels: JPEG2000Channels
  /// The component with the most samples, whose samples are the image's pixels.
  private let finest: JPEG2000Decoder.Component
  private var tileRow = 0
  /// The columns of tiles that are decoded.
  private var tileColumns: Range<Int>
  /// The rows above the first decoded row of tiles.
  private var blankRows = 0

  init(_ decoder: JPEG2000Decoder, _ channels: JPEG2000Channels) throws(CodecError) {
    (self.decoder, self.channels) = (decoder, channels)
    finest = try Self.finest(of: decoder.components)
    tileColumns = 0..<decoder.tiles.width
    var rows = RowLayout(
      size: finest.size, channels: channels.count, sample: channels.isDeep ? .uint16 : .uint8,
      profile: channels.profile)
    rows.hasAlpha = channels.hasAlpha
    if channels.colours == .cmyk { rows.colour = .cmyk }
    layout = rows
  }

  /// The component with the most samples.
  ///
  /// - Throws: `.unsupported` if one has the most columns and another the most rows.
  static func finest(of components: [JPEG2000Decoder.Component]) throws(CodecError) -> JPEG2000Decoder.Component {
    let (across, down) = (components.map(\.across).min(), components.map(\.down).min())
    guard let finest = components.first(where: { $0.across == across && $0.down == down }) else {
      throw .unsupported("a JPEG 2000 of which no component has all pixels")
    }
    return finest
  }

  func limit(to windows: [PixelRectangle]) {
    let (left, top) = (finest.columns.lowerBound, finest.rows.lowerBound)
    let (columns, first) = (windows[0].columns, top + windows[0].y)
    tileRow = (0..<decoder.tiles.height).first { decoder.end(ofTileRow: $0, in: finest) > first } ?? 0
    blankRows = tileRow == 0 ? 0 : max(0, decoder.end(ofTileRow: tileRow - 1, in: finest) - top)
    let ends = tileColumns.map { decoder.end(ofTileColumn: $0, in: finest) - left }
    let start = ends.firstIndex { $0 > columns.lowerBound } ?? 0
    tileColumns = start..<(ends.firstIndex { $0 >= columns.upperBound } ?? ends.count - 1) + 1
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    guard tileRow < decoder.tiles.height else { return false }
    if blankRows > 0 {
      try receive(.blank(count: blankRows))
      blankRows = 0
      return true
    }
    let sampleBytes = channels.isDeep ? 2 : 1
    let pixelBytes = channels.count * sampleBytes
    let stride = finest.columns.count * pixelBytes
    var band: Band?
    for column in tileColumns {
      try decoder.withTile(tileRow * decoder.tiles.width + column) { tile throws(CodecError) in
        guard let first = tile.map(\.component).first(where: isFinest) else { return }
        if band == nil { band = try Band(rows: first.rows, bytes: first.rows.count * stride) }
        guard let band, band.rows == first.rows, finest.columns.lowerBound <= first.columns.lowerBound,
          first.columns.upperBound <= finest.columns.upperBound
        else { throw .damaged(.decode, detail: "a tile lies beside its row") }
        let place = band.start + (first.columns.lowerBound - finest.columns.lowerBound) * pixelBytes
        for row in first.rows {
          let target = place + (row - first.rows.lowerBound) * stride
          if channels.isDeep {
            convert(tile, first, row, into: target.assumingMemoryBound(to: UInt16.self))
          } else {
            convert(tile, first, row, into: target.assumingMemoryBound(to: UInt8.self))
          }
        }
      }
    }
    tileRow += 1
    if let band, !band.rows.isEmpty {
      try receive(RowBand(start: UnsafeRawPointer(band.start), stride: stride, count: band.rows.count))
    }
    return true
  }

  private func isFinest(_ component: JPEG2000Decoder.Component) -> Bool {
    component.across == finest.across && component.down == finest.down
  }

  /// Writes a row of a tile's pixels; `target` has room for them.
  private func convert<Sample: FixedWidthInteger & UnsignedInteger>(
    _ tile: [JPEG2000Decoder.TileComponent], _ pixels: JPEG2000Decoder.Component, _ row: Int,
    into target: UnsafeMutablePointer<Sample>
  ) {
    let count = channels.count
    for (channel, scale) in channels.scales.enumerated() {
      let component = tile[scale.component].component
      guard let start = tile[scale.component].samples else {
        // A component without samples is neutral chroma: so narrow a tile has only luma.
        let neutral: Sample = channels.colours == .ycc && channel > 0 ? .max / 2 + 1 : 0
        for index in 0..<pixels.columns.count { target[index * count + channel] = neutral }
        continue
      }
      // The sample of a coarser component at or before the pixel, or the first sample.
      let line = Self.clamped(row * finest.down / component.down, component.rows) - component.rows.lowerBound
      let samples = start + line * component.columns.count
      let isFine = component.across == finest.across
      for (index, x) in pixels.columns.enumerated() {
        let column = isFine ? x : Self.clamped(x * finest.across / component.across, component.columns)
        let value = scale.value(samples[column - component.columns.lowerBound])
        target[index * count + channel] = Sample(truncatingIfNeeded: value)
      }
    }
    if channels.colours == .ycc {
      StoredColours.convertChroma(target, pixels: pixels.columns.count, channels: count)
    }
    if channels.isPremultiplied {
      StoredColours.unpremultiply(target, pixels: pixels.columns.count, channels: count)
    }
  }

  private static func clamped(_ place: Int, _ range: Range<Int>) -> Int {
    min(max(place, range.lowerBound), range.upperBound - 1)
  }

  /// The memory of a row of tiles, all zero at first.
  private final class Band {
    let rows: Range<Int>
    let start: UnsafeMutableRawPointer

    init(rows: Range<Int>, bytes: Int) throws(CodecError) {
      guard let memory = calloc(max(1, bytes), 1) else { throw .outOfMemory }
      (self.rows, start) = (rows, memory)
    }

    deinit { free(start) }
  }
}
