import Glibc
import HEIFContainer
import ThumbnailCore

/// Compares an embedded thumbnail with some tiles of its image: an editor may have changed the image and kept the
/// thumbnail.
///
/// It compares the mean levels of cells of whole pixels of the thumbnail. In four photographs by phones, the cells of a
/// tile differ by at most 2.4 levels on average, the means of tiles by 1.1, their contrasts by 2.6, and single cells by
/// 26.
struct ThumbnailMatch {
  /// The side of a cell in pixels of the thumbnail.
  private static let cellSide = 4
  /// The largest accepted mean difference of a tile's cells, in levels of 0 to 255.
  private static let mostDifference = 6.0
  /// The largest accepted difference of the means of a plane of a tile.
  private static let mostBias = 4.0
  /// The largest accepted difference of the standard deviations of luma in a tile.
  private static let mostContrast = 6.0
  /// The largest accepted difference of a single cell.
  private static let mostOfCell = 48.0
  /// The most tiles that are compared because of their bytes.
  private static let mostSuspects = 4
  /// A tile is suspect if it has this many times more or fewer bytes than expected, as a power of two. In these
  /// photographs and one of 200 megapixels, no tile has 1.1 times fewer; in the latter some dark tiles have up to 3.1
  /// times more.
  private static let leastDisagreement = 1.25

  private let image: HEIFImage
  private let compared: HEIFTraits.Comparison
  private let thumbnail: TileStrip
  private let file: HEIFFile

  /// - Parameter thumbnail: With its only strip loaded.
  init(_ compared: HEIFTraits.Comparison, _ thumbnail: TileStrip, _ file: HEIFFile) {
    (image, self.compared, self.thumbnail, self.file) = (compared.image, compared, thumbnail, file)
  }

  /// Decodes the tiles to compare, suspect ones first.
  ///
  /// - Throws: `.handedOver` if the thumbnail does not match.
  func check(_ colour: CodedColour) throws(CodecError) {
    guard !compared.tiles.isEmpty else { return }
    let found = suspects
    let suspects = found.map(\.tile).filter { compared.isBodyWhole || compared.tiles.contains($0) }
    guard found.allSatisfy({ !$0.hasFewBytes || suspects.contains($0.tile) }) else {
      throw .handedOver(reason: "a tile that was not read may not match the thumbnail")
    }
    let decoder = try image.decoder(skipsFilters: true)
    for index in suspects + compared.tiles.filter({ !suspects.contains($0) }) {
      let tile = try decoder.decode(try file.item(image.tiles[index]), of: file)
      try image.check(tile)
      guard isAlike(tile, at: index, image.colour ?? tile.colour, colour) else {
        throw .handedOver(reason: "the thumbnail does not match")
      }
    }
  }

  // MARK: Bytes and detail

  /// The tiles whose numbers of bytes disagree most with the thumbnail's detail: an area that was painted over has few.
  ///
  /// A line is fitted to the logarithms of bytes and detail per visible pixel.
  private var suspects: [(tile: Int, hasFewBytes: Bool)] {
    let points = image.tiles.indices.map { index in
      let shown = shown(index)
      let bytes = Double(max(1, file.items.item(image.tiles[index])?.byteCount ?? 0))
      return (x: log2(detail(at: index) + 0.5), y: log2(bytes / Double(shown.x.count * shown.y.count)))
    }
    let count = Double(points.count)
    let (meanX, meanY) = (points.reduce(0) { $0 + $1.x } / count, points.reduce(0) { $0 + $1.y } / count)
    let spread = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
    let slope = spread > 0 ? points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) } / spread : 0
    let distances = points.map { $0.y - meanY - slope * ($0.x - meanX) }
    let found = distances.indices.filter { abs(distances[$0]) >= Self.leastDisagreement }
      .sorted { abs(distances[$0]) > abs(distances[$1]) }
    return found.prefix(Self.mostSuspects).map { ($0, distances[$0] < 0) }
  }

  /// The mean difference of neighbouring pixels of the thumbnail within a tile, in levels.
  private func detail(at index: Int) -> Double {
    let part = small(shown(index))
    let (plane, shift) = (thumbnail.planes[0], thumbnail.image.bits - 8)
    var (sum, count) = (0, 0)
    for y in part.y {
      for x in part.x {
        let level = plane.sample(x, y, isWide: thumbnail.image.bits > 8)
        if x + 1 < part.x.upperBound {
          sum += abs(plane.sample(x + 1, y, isWide: thumbnail.image.bits > 8) - level) >> shift
          count += 1
        }
        if y + 1 < part.y.upperBound {
          sum += abs(plane.sample(x, y + 1, isWide: thumbnail.image.bits > 8) - level) >> shift
          count += 1
        }
      }
    }
    return Double(sum) / Double(max(1, count))
  }

  // MARK: Levels

  private func isAlike(
    _ tile: CodedPlanes, at index: Int, _ tileColour: CodedColour, _ colour: CodedColour
  ) -> Bool {
    let ranges = (
      CodedRange(bits: tile.bits, isFull: tileColour.isFullRange),
      CodedRange(bits: thumbnail.image.bits, isFull: colour.isFullRange)
    )
    let shown = shown(index)
    let part = small(shown)
    let (columns, rows) = (Self.cells(part.x), Self.cells(part.y))
    let (size, whole) = (thumbnail.image.size, image.size)
    var (sum, count) = (0.0, 0)
    for plane in 0..<min(tile.planes.count, thumbnail.planes.count) {
      var levels: (image: [Double], thumbnail: [Double]) = ([], [])
      for y in rows {
        for x in columns {
          let (across, down) = (
            Self.scaled(x, by: whole.width, size.width, within: shown.x),
            Self.scaled(y, by: whole.height, size.height, within: shown.y)
          )
          let one = tile.mean(plane, across, down)
          let other = thumbnail.mean(plane, x, y)
          levels.image.append(ranges.0.level(one, isChroma: plane > 0))
          levels.thumbnail.append(ranges.1.level(other, isChroma: plane > 0))
        }
      }
      let (one, other) = (Self.moments(levels.image), Self.moments(levels.thumbnail))
      let differences = zip(levels.image, levels.thumbnail).map { abs($0 - $1) }
      guard abs(one.mean - other.mean) <= Self.mostBias, differences.allSatisfy({ $0 <= Self.mostOfCell }),
        plane > 0 || abs(one.deviation - other.deviation) <= Self.mostContrast
      else { return false }
      sum += differences.reduce(0, +)
      count += differences.count
    }
    return sum <= Self.mostDifference * Double(count)
  }

  private static func moments(_ levels: [Double]) -> (mean: Double, deviation: Double) {
    let mean = levels.reduce(0, +) / Double(levels.count)
    return (mean, (levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(levels.count)).squareRoot())
  }

  // MARK: Places

  /// The part of the image that a tile shows, in pixels. The last tiles reach beyond the image.
  private func shown(_ index: Int) -> (x: Range<Int>, y: Range<Int>) {
    let (left, top) = (index % image.columns * image.tileSize.width, index / image.columns * image.tileSize.height)
    return (
      left..<min(image.size.width, left + image.tileSize.width),
      top..<min(image.size.height, top + image.tileSize.height)
    )
  }

  /// The pixels of the thumbnail that lie within a part of the image, or the pixel that shows most of it.
  private func small(_ part: (x: Range<Int>, y: Range<Int>)) -> (x: Range<Int>, y: Range<Int>) {
    func small(_ range: Range<Int>, _ side: Int, of large: Int) -> Range<Int> {
      let first = (range.lowerBound * side + large - 1) / large
      let end = range.upperBound * side / large
      if first < end { return first..<end }
      let only = min(side - 1, range.lowerBound * side / large)
      return only..<only + 1
    }
    let size = thumbnail.image.size
    return (small(part.x, size.width, of: image.size.width), small(part.y, size.height, of: image.size.height))
  }

  /// Divides pixels of the thumbnail into cells, with even edges if possible, as chroma has.
  private static func cells(_ range: Range<Int>) -> [Range<Int>] {
    let even = (range.lowerBound + 1) / 2..<max((range.lowerBound + 1) / 2, range.upperBound / 2)
    guard !even.isEmpty else { return [range] }
    let count = max(1, 2 * even.count / cellSide)
    return (0..<count).map { cell in
      let (start, end) = (even.count * cell / count, even.count * (cell + 1) / count)
      return 2 * (even.lowerBound + start)..<2 * (even.lowerBound + end)
    }
  }

  /// A range of the thumbnail's pixels, in pixels of a tile that shows `part` of the image.
  private static func scaled(_ range: Range<Int>, by large: Int, _ small: Int, within part: Range<Int>) -> Range<Int> {
    let start = max(part.lowerBound, min(part.upperBound - 1, range.lowerBound * large / small))
    let end = max(start + 1, min(part.upperBound, range.upperBound * large / small))
    return start - part.lowerBound..<end - part.lowerBound
  }
}

extension CodedPlanes.Plane {
  /// A sample, of two bytes if `isWide`.
  fileprivate func sample(_ x: Int, _ y: Int, isWide: Bool) -> Int {
    let row = start + y * stride
    return isWide
      ? Int(row.load(fromByteOffset: 2 * x, as: UInt16.self)) : Int(row.load(fromByteOffset: x, as: UInt8.self))
  }

  /// The mean of the samples under a rectangle of luma's pixels.
  fileprivate func mean(_ columns: Range<Int>, _ rows: Range<Int>, divisors: (across: Int, down: Int), isWide: Bool)
    -> Double
  {
    func samples(_ range: Range<Int>, _ divisor: Int, _ side: Int) -> Range<Int> {
      let first = min(side - 1, range.lowerBound / divisor)
      return first..<max(first + 1, min(side, range.upperBound / divisor))
    }
    let (across, down) = (samples(columns, divisors.across, size.width), samples(rows, divisors.down, size.height))
    var sum = 0
    for y in down { for x in across { sum &+= sample(x, y, isWide: isWide) } }
    return Double(sum) / Double(across.count * down.count)
  }
}

extension CodedPlanes {
  fileprivate func mean(_ plane: Int, _ columns: Range<Int>, _ rows: Range<Int>) -> Double {
    planes[plane].mean(columns, rows, divisors: plane > 0 ? chroma.divisors : (1, 1), isWide: bits > 8)
  }
}

extension TileStrip {
  fileprivate func mean(_ plane: Int, _ columns: Range<Int>, _ rows: Range<Int>) -> Double {
    planes[plane].mean(
      columns, rows, divisors: plane > 0 ? image.chroma.divisors : (1, 1), isWide: image.bits > 8)
  }
}
