import Glibc

/// The weights that estimate a Lanczos sample from the means of boxes of pixels.
///
/// A JPEG read at 1/8 has the mean of 8×8 pixels for each sample. Lanczos on top of such a box filter blurs twice. The
/// best linear estimate of the result of Lanczos on the pixels is L·S·Bᵀ·(B·S·Bᵀ)⁻¹: L are the wanted weights of the
/// pixels, B takes the means, and S is the covariance of pixels, here ρ to the power of their distance.
struct BoxEstimator {
  /// The correlation of neighbouring pixels.
  private static let correlation = 0.97
  /// Noise of the means, relative to the variance of pixels: keeps the weights small if a mean has no information.
  private static let noise = 1e-3

  private let box: Int
  /// The pixels that become one new sample.
  private let stretch: Double
  /// The covariance of a pixel and the mean of a box, by the pixel's distance from the box's first one; symmetric
  /// around the box's centre.
  private let covariances: [Double]
  /// By the number of means.
  private var inverses: [Int: InverseCovariance] = [:]

  /// For means of `box` pixels, with `scale` means per new sample.
  init(box: Int, scale: Double) {
    self.box = box
    stretch = scale * Double(box)
    // A window of 2·3·stretch pixels, seen from either end, and the boxes at its ends.
    let reach = Int(2 * ResampleKernel.lobes * stretch) + 4 * box + 4
    covariances = (0..<reach).map { pixel in
      (0..<box).reduce(0.0) { $0 + pow(Self.correlation, Double(abs(pixel - $1))) } / Double(box)
    }
  }

  /// The covariance of a pixel and the mean of the box that begins at 0.
  private func covariance(_ pixel: Int) -> Double {
    let distance = pixel < 0 ? box - 1 - pixel : pixel
    return distance < covariances.count ? covariances[distance] : 0
  }

  /// The weights of `count` means, the first with its centre at 0, for a new sample with its centre at `middle`.
  mutating func weights(middle: Double, count: Int) -> [Double] {
    let inverse =
      inverses[count]
      ?? InverseCovariance(of: count) { distance in
        (0..<box).reduce(0.0) { $0 + covariance(distance * box + $1) } / Double(box)
      }
    inverses[count] = inverse
    // The pixels that Lanczos would read, at their distance from the first pixel of the first box.
    let centre = (middle + 0.5) * Double(box) - 0.5
    let first = Int((centre - ResampleKernel.lobes * stretch).rounded(.up))
    let last = Int((centre + ResampleKernel.lobes * stretch).rounded(.down))
    var shared = Array(repeating: 0.0, count: count)
    var sum = 0.0
    ResampleKernel.forEachValue(
      from: (Double(first) - centre) / stretch, step: 1 / stretch, count: last - first + 1
    ) { offset, value in
      sum += value
      for index in 0..<count { shared[index] += value * covariance(first + offset - index * box) }
    }
    var weights = inverse.times(shared.map { $0 / sum })
    // The weights sum to one, so that plain areas stay plain.
    let rest = (1 - weights.reduce(0, +)) / inverse.ones.reduce(0, +)
    for index in weights.indices { weights[index] += inverse.ones[index] * rest }
    return weights
  }

  /// The inverse of the covariances of neighbouring boxes' means.
  private struct InverseCovariance {
    /// The sums of its rows.
    let ones: [Double]
    private let rows: [[Double]]

    /// `covariance` gives that of two means, by their distance in boxes.
    init(of count: Int, _ covariance: (Int) -> Double) {
      let distances = (0..<count).map(covariance)
      var left: [[Double]] = (0..<count).map { row in (0..<count).map { distances[abs(row - $0)] } }
      for index in 0..<count { left[index][index] += BoxEstimator.noise }
      var right: [[Double]] = (0..<count).map { row in (0..<count).map { $0 == row ? 1 : 0 } }
      // Gauss-Jordan; the matrix is positive definite, so no pivot vanishes.
      for pivot in 0..<count {
        let factor = 1 / left[pivot][pivot]
        for column in 0..<count {
          left[pivot][column] *= factor
          right[pivot][column] *= factor
        }
        for row in 0..<count where row != pivot {
          let factor = left[row][pivot]
          for column in 0..<count {
            left[row][column] -= factor * left[pivot][column]
            right[row][column] -= factor * right[pivot][column]
          }
        }
      }
      rows = right
      ones = right.map { $0.reduce(0, +) }
    }

    func times(_ vector: [Double]) -> [Double] {
      rows.map { row in zip(row, vector).reduce(0) { $0 + $1.0 * $1.1 } }
    }
  }
}
