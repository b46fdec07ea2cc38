@testable import ThumbnailCore

/// The structural similarity (SSIM) of two images: windows of 8×8 pixels with a stride of 2, averaged over all windows
/// and bands.
///
/// Wang, Bovik, Sheikh and Simoncelli, 2004, with the paper's constants for 8 bits. Identical images give 1.
func structuralSimilarity(_ a: DecodedPixels, _ b: DecodedPixels) -> Double {
  guard a.size == b.size, a.bands == b.bands, a.size.width >= 8, a.size.height >= 8 else { return 0 }
  let (one, two) = (0.01 * 255 * 0.01 * 255, 0.03 * 255 * 0.03 * 255)
  var (total, windows) = (0.0, 0)
  for band in 0..<a.bands {
    let (left, right) = (a.plane(band), b.plane(band))
    for top in stride(from: 0, through: a.size.height - 8, by: 2) {
      for start in stride(from: 0, through: a.size.width - 8, by: 2) {
        var (sumA, sumB, squareA, squareB, product) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for y in top..<top + 8 {
          for x in start..<start + 8 {
            let (p, q) = (left[y * a.size.width + x], right[y * a.size.width + x])
            sumA += p
            sumB += q
            squareA += p * p
            squareB += q * q
            product += p * q
          }
        }
        let (meanA, meanB) = (sumA / 64, sumB / 64)
        let (varianceA, varianceB) = (squareA / 64 - meanA * meanA, squareB / 64 - meanB * meanB)
        let covariance = product / 64 - meanA * meanB
        total +=
          (2 * meanA * meanB + one) * (2 * covariance + two)
          / ((meanA * meanA + meanB * meanB + one) * (varianceA + varianceB + two))
        windows += 1
      }
    }
  }
  return total / Double(windows)
}
