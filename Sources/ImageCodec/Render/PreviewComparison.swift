import JPEGCoefficients
import ThumbnailCore

/// Compares an embedded preview with its image.
///
/// Editors may change an image and keep the old preview. So the image's first rows, as many as 64 KiB of its first scan
/// hold, are compared with the preview's. Changes further down are not detected.
struct PreviewComparison {
  /// The number of columns of the grid.
  private static let columns = 40
  /// The largest accepted mean difference per sample (0 to 255), over a grid of the compared rows.
  ///
  /// For 30 photographs and drawings, the preview and its own image differ by 0.1 to 7.6; 494 pairs of different images
  /// with the same aspect ratio differ by 17 or more.
  private static let mostDifference = 8.0
  /// The smallest accepted standard deviation of the grid's brightness: all clear skies look alike.
  private static let leastContrast = 4.0

  private let preview: PreviewPlan
  /// The preview's own file.
  private let small: ByteSource
  private let body: ByteSource
  private let cancellation: CancellationFlag

  init(_ preview: PreviewPlan, _ small: ByteSource, body: ByteSource, cancellation: CancellationFlag) {
    (self.preview, self.small, self.body, self.cancellation) = (preview, small, body, cancellation)
  }

  /// Whether both show the same. Blocks: decodes the preview, and the first rows of the image at 1/8.
  var isAlike: Bool {
    get throws(CodecError) {
      let beginning = body.prefix(preview.preview.neededRanges.upperBound)
      let image = try Raster(
        CoefficientDecoder(
          beginning, size: preview.probe.storedSize, scale: .eighth, isTolerant: true, cancellation: cancellation))
      // With a profile the image's samples are not comparable to the preview's.
      guard image.profile == nil else { return false }
      let pass = DecodePlan.Pass(reader: .jpeg(reduction: 1), baseSize: preview.preview.size, steps: [])
      let decoder = ImageDecoder(body: small, plan: preview.plan, pass: pass, cancellation: cancellation)
      let shown = try decoder.raster(of: preview.preview.size)
      guard shown.bands == image.bands else { return false }
      let rows = try Self.decodedRows(of: image) * shown.size.height / image.size.height
      guard rows >= 2 else { return false }
      let (across, down) = (min(Self.columns, shown.size.width, image.size.width), max(1, rows / 4))
      let seen = try Self.grid(shown, rows: rows, across: across, down: down)
      let known = try Self.grid(
        image, rows: rows * image.size.height / shown.size.height, across: across, down: down)
      let difference = zip(seen, known).reduce(0) { $0 + abs($1.0 - $1.1) } / Double(seen.count)
      return difference <= Self.mostDifference
        && Self.contrast(known, bands: image.bands) >= Self.leastContrast
    }
  }

  /// The number of rows from the top before the mid-grey of missing data. The last two may be incomplete.
  private static func decodedRows(of raster: Raster) throws(CodecError) -> Int {
    let row = raster.size.width * raster.bands
    return raster.withBytes { bytes in
      let last = (0..<raster.size.height).last { y in bytes[y * row..<(y + 1) * row].contains { $0 != 128 } }
      guard let last else { return 0 }
      return last == raster.size.height - 1 ? raster.size.height : max(0, last - 1)
    }
  }

  /// The mean samples of each cell of a grid over the first rows. The samples of a cell are adjacent.
  private static func grid(_ raster: Raster, rows: Int, across: Int, down: Int) throws(CodecError) -> [Double] {
    let (width, bands) = (raster.size.width, raster.bands)
    return raster.withBytes { bytes in
      var means: [Double] = []
      for cellY in 0..<down {
        let top = cellY * rows / down
        let bottom = max(top + 1, (cellY + 1) * rows / down)
        for cellX in 0..<across {
          let left = cellX * width / across
          let right = max(left + 1, (cellX + 1) * width / across)
          for band in 0..<bands {
            var sum = 0
            for y in top..<bottom { for x in left..<right { sum += Int(bytes[(y * width + x) * bands + band]) } }
            means.append(Double(sum) / Double((bottom - top) * (right - left)))
          }
        }
      }
      return means
    }
  }

  /// The standard deviation of the cells' brightness.
  private static func contrast(_ grid: [Double], bands: Int) -> Double {
    let cells = stride(from: 0, to: grid.count, by: bands).map { start in
      grid[start..<start + bands].reduce(0, +) / Double(bands)
    }
    let mean = cells.reduce(0, +) / Double(cells.count)
    return (cells.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(cells.count)).squareRoot()
  }
}

extension ByteSource {
  /// Its first `length` bytes.
  fileprivate func prefix(_ length: Int) -> ByteSource {
    switch self {
    case .memory(let bytes): bytes.count <= length ? self : .memory(Array(bytes[..<length]))
    case .file(let file, let count): .file(file, count: min(count, length))
    case .part: part(0..<length)
    }
  }
}
