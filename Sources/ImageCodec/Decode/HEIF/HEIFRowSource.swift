import Glibc
import HEIFContainer
import ThumbnailCore

/// Decodes an image of a HEIC or AVIF item by item, with libde265 or dav1d, without turning it.
///
/// Holds a row of its tiles, or the planes of its only item. It delivers luma and chroma as they are, or RGB for images
/// with alpha or coded light, which is not mapped yet.
final class HEIFRowSource: RowSource {
  /// The most bytes of rows that are passed at once.
  private static let bandBytes = 65_536

  let layout: RowLayout
  private let colours: TileStrip
  private let alpha: TileStrip?
  private let part: PixelRectangle
  /// The levels of the samples of luma and of chroma, if they differ from the coded values.
  private let tables: [[UInt16]?]
  /// Nil if planes are delivered.
  private let converter: PixelConverter?
  /// Converted rows.
  private let scratch: UnsafeMutableRawPointer
  private let bytesPerBand: Int
  /// The next row of each plane.
  private var nextRows: [Int]
  /// Whether the rows before these were passed.
  private var hasBegun = false

  /// - Parameters:
  ///   - skipsFilters: See `HEIFImage.decoder`.
  ///   - convertsColours: Whether luma and chroma become RGB.
  ///   - onTwoThreads: Whether a second decoder takes tiles of a grid.
  /// - Throws: `.handedOver` for files that libheif should read, and for a thumbnail of another image;
  ///   `.damaged(.header, …)`, `.truncated`, `.unreadableBody`.
  init(
    _ body: ByteSource, _ traits: HEIFTraits, skipsFilters: Bool = false, convertsColours: Bool = false,
    onTwoThreads: Bool = false
  ) throws(CodecError) {
    let file = try HEIFFile(body)
    let image = traits.image
    part = image.part
    colours = try TileStrip(image, of: file, skipsFilters: skipsFilters, onTwoThreads: onTwoThreads)
    var alpha: TileStrip?
    if let found = traits.alpha {
      alpha = try TileStrip(found, of: file, skipsFilters: skipsFilters, onTwoThreads: onTwoThreads)
    }
    self.alpha = alpha
    if colours.colour == nil || traits.compared != nil { try colours.load(part.y) }
    let colour = colours.colour ?? CodedColour(primaries: 2, transfer: 2, matrix: 2, isFullRange: false)
    if let compared = traits.compared { try ThumbnailMatch(compared, colours, file).check(colour) }
    let size = part.size
    let divisors = image.chroma.divisors
    let isAligned = part.x % divisors.across == 0 && part.y % divisors.down == 0
    let range = CodedRange(bits: image.bits, isFull: colour.isFullRange)
    // If there is a profile, the container's colour space counts.
    let told = image.colour != nil || image.profile == nil ? CodedLight(colour, peakLight: image.peakLight) : nil
    let codedLight = CodedLight.counting(told, profile: image.profile)
    let keepsPlanes =
      alpha == nil && !convertsColours && codedLight == nil && isAligned && image.chroma != .none
    if keepsPlanes, let weights = LumaWeights(matrix: colour.matrix) {
      converter = nil
      layout = RowLayout(
        coded: size, chroma: image.chroma, sample: image.bits > 8 ? .uint16 : .uint8, weights: weights,
        profile: image.profile)
      let chroma = range.table(isChroma: true)
      tables = [range.table(isChroma: false), chroma, chroma]
    } else {
      let found = try PixelConverter(
        bits: image.bits, colour: colour, alphaBits: alpha?.image.bits, isPremultiplied: traits.isPremultiplied)
      converter = found
      var pixels = RowLayout(
        size: size, channels: found.channels, sample: image.bits > 8 ? .uint16 : .uint8, profile: image.profile)
      pixels.codedLight = codedLight
      layout = pixels
      tables = [nil]
    }
    nextRows = layout.planes.map { _ in 0 }
    let rowBytes = layout.planes[0].size.width * layout.planes[0].channels * (image.bits > 8 ? 2 : 1)
    bytesPerBand = max(Self.bandBytes, rowBytes)
    scratch = .allocate(byteCount: bytesPerBand, alignment: 16)
  }

  deinit { scratch.deallocate() }

  func limit(to windows: [PixelRectangle]) {
    let (divisors, tile) = (colours.image.chroma.divisors, colours.image.tileSize)
    // Windows of the whole image as coded; chroma next to the window may be in another tile.
    let parts = windows.enumerated().map { plane, window in
      let (across, down) = plane == 0 ? (1, 1) : divisors
      return PixelRectangle(
        columns: part.x + window.columns.lowerBound * across..<part.x + window.columns.upperBound * across,
        rows: part.y + window.rows.lowerBound * down..<part.y + window.rows.upperBound * down)
    }
    let whole = PixelRectangle(around: parts)
    for strip in [colours, alpha].compactMap({ $0 }) { strip.limit(to: whole.columns) }
    // All planes begin with the same row of tiles.
    let first = max(0, whole.y / tile.height * tile.height - part.y)
    nextRows = windows.indices.map { $0 == 0 ? first : first / divisors.down }
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    if !hasBegun {
      hasBegun = true
      for (plane, rows) in nextRows.enumerated() where rows > 0 {
        try receive(.blank(plane: plane, count: rows))
      }
    }
    guard let plane = layout.nextPlane(after: nextRows) else { return false }
    if converter != nil { try receive(try convertedBand()) } else { try receive(try band(ofPlane: plane)) }
    return true
  }

  /// The next rows of a plane, within one strip.
  private func band(ofPlane plane: Int) throws(CodecError) -> RowBand {
    let divisors = plane == 0 ? (across: 1, down: 1) : colours.image.chroma.divisors
    let shape = layout.planes[plane]
    let (top, left) = (part.y / divisors.down, part.x / divisors.across)
    let first = top + nextRows[plane]
    try colours.load(first * divisors.down)
    let end = min(colours.rows.upperBound / divisors.down, top + shape.size.height)
    let sampleBytes = colours.sampleBytes
    let rowBytes = shape.size.width * sampleBytes
    // The last row of an odd number of rows may be alone in the strip.
    let available = max(1, end - first)
    let count = min(available, RowLayout.mostRows, max(1, bytesPerBand / rowBytes))
    let samples = colours.start(plane, row: first) + left * sampleBytes
    let stride = colours.planes[plane].stride
    nextRows[plane] += count
    guard let table = tables[plane] else {
      return RowBand(plane: plane, start: samples, stride: stride, count: count)
    }
    for row in 0..<count {
      let source = samples + row * stride
      Self.apply(table, source, shape.size.width, isWide: sampleBytes == 2, scratch + row * rowBytes)
    }
    return RowBand(plane: plane, start: UnsafeRawPointer(scratch), stride: rowBytes, count: count)
  }

  private static func apply(
    _ table: [UInt16], _ source: UnsafeRawPointer, _ count: Int, isWide: Bool, _ target: UnsafeMutableRawPointer
  ) {
    table.withUnsafeBufferPointer { table in
      if isWide {
        let (source, target) = (
          source.assumingMemoryBound(to: UInt16.self), target.assumingMemoryBound(to: UInt16.self)
        )
        let most = table.count - 1
        for index in 0..<count { target[index] = table[min(most, Int(source[index]))] }
      } else {
        let (source, target) = (source.assumingMemoryBound(to: UInt8.self), target.assumingMemoryBound(to: UInt8.self))
        for index in 0..<count { target[index] = UInt8(truncatingIfNeeded: table[Int(source[index])]) }
      }
    }
  }

  /// The next rows of RGB, within one strip.
  private func convertedBand() throws(CodecError) -> RowBand {
    guard let converter else { throw .damaged(.decode, detail: "no converter") }
    let size = layout.planes[0].size
    let rowBytes = size.width * converter.channels * colours.sampleBytes
    let first = part.y + nextRows[0]
    try colours.load(first)
    var end = min(colours.rows.upperBound, part.y + size.height)
    if let alpha {
      try alpha.load(first)
      end = min(end, alpha.rows.upperBound)
    }
    let count = max(1, min(end - first, bytesPerBand / rowBytes))
    let divisors = colours.image.chroma.divisors
    for row in first..<first + count {
      let shared = row / divisors.down
      let line = PixelConverter.Line(
        luma: colours.start(0, row: row),
        chroma: colours.image.chroma == .none
          ? nil : (colours.start(1, row: shared), colours.start(2, row: shared)),
        across: divisors.across, alpha: alpha?.start(0, row: row), isAlphaWide: alpha?.sampleBytes == 2, first: part.x)
      converter.convert(line, count: size.width, into: scratch + (row - first) * rowBytes)
    }
    nextRows[0] += count
    return RowBand(start: UnsafeRawPointer(scratch), stride: rowBytes, count: count)
  }
}

extension RowLayout {
  /// The layout of luma and chroma as coded.
  fileprivate init(
    coded size: PixelSize, chroma: ChromaFormat, sample: Sample, weights: LumaWeights, profile: [UInt8]?
  ) {
    let divisors = chroma.divisors
    let planes = (0..<3).map { plane in
      let (across, down) = plane == 0 ? (1, 1) : divisors
      return Plane(
        size: TileStrip.size(of: size, plane, chroma), channels: 1,
        extent: PixelExtent(width: Double(size.width) / Double(across), height: Double(size.height) / Double(down)))
    }
    self.init(planes: planes, profile: profile)
    (self.sample, self.weights) = (sample, weights)
  }
}
