import JPEGCoefficients
package import ThumbnailCore

/// Makes thumbnails from an image's embedded preview after verifying that both show the same.
///
/// Editors may change an image and keep the old preview. So the image's first rows, as many as 64 KiB of its first scan
/// hold, are compared with the preview's. Changes further down are not detected.
package struct PreviewPlan: Sendable {
  /// The largest accepted mean difference per sample (0 to 255), over a grid of the compared rows.
  ///
  /// Of 30 photographs and drawings, the preview and its own image differ by 0.1 to 7.6; 494 pairs of different ones of
  /// the same aspect ratio differ by 17 or more.
  static let mostDifference = 8.0
  /// The smallest accepted standard deviation of the grid's brightness: all clear skies look alike.
  static let leastContrast = 4.0
  /// The number of columns of the grid.
  private static let columns = 40

  let probe: ImageProbe
  package let preview: EmbeddedPreview
  /// The plan for decoding the preview instead of the image.
  package let plan: DecodePlan
  /// Its predicted peak memory in bytes, the comparison included.
  package let predictedBytes: Int

  /// Nil if the preview is too small, does not match, or costs more than `memoryBudget` bytes.
  package init?(_ variants: [Variant], probe: ImageProbe, memoryBudget: Int) {
    guard let preview = probe.preview, preview.serves(variants, of: probe) else { return nil }
    var stand = ImageProbe(format: .jpeg, storedSize: preview.size)
    stand.orientation = probe.orientation
    stand.frameCount = 1
    stand.hasAlpha = false
    // The preview's coding process is not parsed, so assume the most expensive one.
    stand.isProgressive = true
    guard
      let plan = try? DecodePlan.make(
        probe: stand, bodyLength: preview.range.count, variants: variants, memoryBudget: memoryBudget,
        pictureSize: probe.size)
    else { return nil }
    // The comparison decodes the image at 1/8: three planes of 16 bits, and the raster.
    let compared = JPEGScale.eighth.size(of: probe.storedSize).pixelCount * 10
    guard plan.predictedBytes + compared <= memoryBudget else { return nil }
    (self.probe, self.preview, self.plan, predictedBytes) = (probe, preview, plan, plan.predictedBytes + compared)
  }

  /// Renders the thumbnails as `Downsampler` does; nil if the preview cannot be read or does not match the image.
  package func render(_ body: ByteSource, cancellation: CancellationFlag) -> [RenderedVariant]? {
    guard let bytes = try? body.read(at: preview.range.lowerBound, length: preview.range.count),
      bytes.count == preview.range.count
    else { return nil }
    let small = ByteSource.memory(bytes)
    guard let isAlike = try? isOfImage(small, body: body, cancellation: cancellation), isAlike else { return nil }
    let rendered = Downsampler.render(small, plan: plan, cancellation: cancellation)
    let isWhole = rendered.allSatisfy { (try? $0.result.get()) != nil }
    guard isWhole else { return nil }
    let source = SourceDescription(size: probe.size, format: probe.format, byteCount: body.count)
    return rendered.map { made in
      RenderedVariant(
        variant: made.variant,
        result: made.result.map { Thumbnail(data: $0.data, size: $0.size, format: $0.format, source: source) })
    }
  }

  // MARK: Comparing

  private func isOfImage(
    _ small: ByteSource, body: ByteSource, cancellation: CancellationFlag
  ) throws(CodecError) -> Bool {
    let picture = try CoefficientReader(
      body: body.prefix(preview.sufficientLength), storedSize: probe.storedSize, scale: .eighth, isTolerant: true,
      cancellation: cancellation
    ).read().raster
    // With a profile the image's samples are not comparable to the preview's.
    guard picture.profile == nil else { return false }
    let pass = DecodePlan.Pass(reader: .libvips, baseSize: preview.size, steps: [])
    let decoder = ImageDecoder(body: small, plan: plan, pass: pass, cancellation: cancellation)
    let shown = try decoder.decode { picture throws(CodecError) in try picture.standardColours() }
    guard shown.bands == picture.bands else { return false }
    let rows = try Self.decodedRows(of: picture) * shown.size.height / picture.size.height
    guard rows >= 2 else { return false }
    let (across, down) = (min(Self.columns, shown.size.width, picture.size.width), max(1, rows / 4))
    let seen = try Self.grid(shown, rows: rows, across: across, down: down)
    let known = try Self.grid(
      picture, rows: rows * picture.size.height / shown.size.height, across: across, down: down)
    let difference = zip(seen, known).reduce(0) { $0 + abs($1.0 - $1.1) } / Double(seen.count)
    return difference <= Self.mostDifference && Self.contrast(known, bands: picture.bands) >= Self.leastContrast
  }

  /// The number of rows from the top before the mid-grey of missing data. The last two may be incomplete.
  private static func decodedRows(of raster: Raster) throws(CodecError) -> Int {
    let row = raster.size.width * raster.bands
    return try raster.withBytes { bytes in
      let last = (0..<raster.size.height).last { y in bytes[y * row..<(y + 1) * row].contains { $0 != 128 } }
      guard let last else { return 0 }
      return last == raster.size.height - 1 ? raster.size.height : max(0, last - 1)
    }
  }

  /// The mean samples of each cell of a grid over the first rows, with the samples of a cell adjacent.
  private static func grid(_ raster: Raster, rows: Int, across: Int, down: Int) throws(CodecError) -> [Double] {
    let (width, bands) = (raster.size.width, raster.bands)
    return try raster.withBytes { bytes in
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
    }
  }
}
