import ThumbnailCore

/// Decides how small a JPEG may be read for a thumbnail of a given size.
///
/// The remaining reduction is the resampler's after the decoder: 2 if 500 pixels are read for 250. Below 2, the
/// difference between the decoder's mean of a block and a Lanczos filter becomes visible, unless the image is smooth.
/// The file shows its smoothness: by the bits per pixel and by the quantisers. The limits were measured over 269
/// images: with them 0.4 % of the thumbnails are worse than vipsthumbnail's by 0.005 SSIM or 0.3 dE2000.
struct ScaleRule {
  /// Bytes per pixel times the square root of the mean quantiser: about 0.1 for a sky, 0.5 for a common photograph, 2
  /// for text. Nil if unknown.
  let detail: Double?

  /// - Parameter bodyLength: The length of the whole file in bytes; nil if it is not known.
  init(_ probe: ImageProbe, bodyLength: Int?) {
    detail = bodyLength.flatMap { length in
      probe.meanQuantiser.map { Double(length) / Double(probe.storedSize.pixelCount) * max(1, $0).squareRoot() }
    }
  }

  /// The least remaining reductions, with the detail below which they are allowed, for files read at 1/8, 1/4 and 1/2.
  private static let limits: [(reduction: Double, eighth: Double, quarter: Double, half: Double)] = [
    (1, 0.15, 0.15, 0.2), (1.25, 0.15, 0.28, 0.4), (1.5, 0.17, 0.6, 0.6), (1.75, 0.6, 0.6, 0.6),
  ]

  /// The least remaining reduction of a file that is read at 1/`divisor`; with `isCoarse` none, to save memory.
  func leastReduction(readAt divisor: Int, isCoarse: Bool) -> Double {
    if isCoarse { return 1 }
    guard let detail else { return 2 }
    return Self.limits.first { detail < (divisor == 8 ? $0.eighth : divisor == 4 ? $0.quarter : $0.half) }?.reduction
      ?? 2
  }

  /// Whether an image of `stored` size may be read at 1/`divisor` for a view of this size.
  func permits(_ divisor: Int, stored: PixelSize, view: PixelSize, isCoarse: Bool) -> Bool {
    let least = leastReduction(readAt: divisor, isCoarse: isCoarse) * Double(divisor)
    return Double(stored.width) >= least * Double(view.width) && Double(stored.height) >= least * Double(view.height)
  }
}
