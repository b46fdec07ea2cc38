import Glibc
import Synchronization

/// The weights of each new sample along one axis: Lanczos with three lobes, stretched by the reduction factor, the
/// default of libvips, Pillow and ImageMagick; or the same corrected for samples that are means of boxes of pixels
/// (`BoxEstimator`).
///
/// Beyond the edge the outermost sample is repeated, as in libvips.
struct ResampleKernel: Sendable {
  /// The parameters of a kernel.
  struct Axis: Hashable, Sendable {
    /// The number of source samples.
    var count: Int
    /// The image's beginning within the first of them: 0 at its left or upper edge.
    var origin = 0.0
    /// How many of them the image covers.
    var extent: Double
    /// The number of new samples of the whole image.
    var target: Int
    /// The new samples to compute.
    var range: Range<Int>
    /// The number of pixels whose mean a source sample is.
    var box = 1
    /// The number of pixels, 1 or 2, that a decoder makes of a source sample by linear interpolation. Lanczos is
    /// applied to these pixels, without computing them.
    var upsampling = 1
    /// The number of taps is rounded up to a multiple of this, a power of two.
    var group: Int
    /// Every start is rounded down to a multiple of this, a power of two.
    var alignment: Int
  }

  /// 1 in fixed point with `fractionBits` fraction bits; the weights of each sample sum to exactly this.
  static let one = 1 << fractionBits
  static let fractionBits = 14

  /// The number of weights per sample.
  let taps: Int
  /// The source index of each new sample's window, ascending. The window may extend beyond the source, with weights of
  /// 0.
  private(set) var starts: [Int]
  /// `taps` weights per new sample, in sample order.
  private(set) var weights: [Int16]
  /// The range of source samples that are used.
  private(set) var source: Range<Int>

  /// Computes a kernel. The counts are at least 1, the extent is positive, the range is within the new samples.
  init(_ axis: Axis) {
    let (count, extent, target, range) = (axis.count, axis.extent, axis.target, axis.range)
    let (group, alignment) = (axis.group, axis.alignment)
    let pixels = Double(axis.upsampling)
    let scale = extent * pixels / Double(target)
    let stretch = max(1, scale)
    // If three or more means become one sample, the error of a mean is not visible.
    var estimator = axis.box > 1 && scale > 1 && scale < 3 ? BoxEstimator(box: axis.box, scale: scale) : nil
    // The first and the last pixel of the image.
    let left = Int(axis.origin * pixels)
    let right = min(count * axis.upsampling, Int(((axis.origin + extent) * pixels).rounded(.up))) - 1
    func inside(_ position: Int) -> Int { min(max(position, left), right) }
    let windows = range.map { index in
      // The centres of pixels are at whole numbers.
      let middle = axis.origin * pixels + (Double(index) + 0.5) * scale - 0.5
      // If each pixel becomes one sample, Lanczos is 0 at all others.
      let reach = scale == 1 && middle == middle.rounded() ? pixels - 1 : Self.lobes * stretch
      let first = Int((middle - reach).rounded(.up))
      let last = Int((middle + reach).rounded(.down))
      var samples = inside(first) / axis.upsampling...inside(last) / axis.upsampling
      if axis.upsampling > 1 {
        // The outermost pixel stands for all beyond it, so the sample beside the image matters.
        let lowest = first < left ? (left - 1) / axis.upsampling : samples.lowerBound
        let highest = last > right ? min(count - 1, (right + 1) / axis.upsampling) : samples.upperBound
        samples = min(lowest, samples.lowerBound)...max(highest, samples.upperBound)
      }
      return (middle: middle, first: first, last: last, samples: samples, start: samples.lowerBound & ~(alignment - 1))
    }
    let widest = windows.map { $0.samples.upperBound - $0.start + 1 }.max() ?? 1
    let taps = (widest + group - 1) & ~(group - 1)
    self.taps = taps
    starts = windows.map(\.start)
    source = (starts.first ?? 0)..<min(count, (starts.last ?? 0) + taps)
    weights = []
    weights.reserveCapacity(windows.count * taps)
    var exact: [Double] = Array(repeating: 0, count: taps)
    for window in windows {
      for tap in exact.indices { exact[tap] = 0 }
      var total = 0.0
      func add(_ index: Int, _ value: Double) {
        let pixel = inside(window.first + index)
        let sample = pixel / axis.upsampling
        // A pixel is 3/4 of its own sample and 1/4 of the nearest other one.
        let next = axis.upsampling == 1 ? sample : sample + (pixel & 1) * 2 - 1
        exact[sample - window.start] += 0.75 * value
        exact[min(max(next, window.samples.lowerBound), window.samples.upperBound) - window.start] += 0.25 * value
        total += value
      }
      let length = window.last - window.first + 1
      if let estimated = estimator?.weights(middle: window.middle - Double(window.first), count: length) {
        for (index, value) in estimated.enumerated() {
          add(index, value)
        }
      } else {
        Self.forEachValue(
          from: (Double(window.first) - window.middle) / stretch, step: 1 / stretch, count: length, add)
      }
      // Rounding the running sum, not each weight, makes the weights sum to exactly one.
      var (sum, written) = (0.0, 0)
      for value in exact {
        sum += value / total * Double(Self.one)
        let rounded = Int(sum.rounded())
        weights.append(Int16(clamping: rounded - written))
        written = rounded
      }
    }
  }

  static let lobes = 3.0

  /// The bytes that it takes.
  var bytes: Int { 2 * weights.count + 8 * starts.count }

  /// Calls `body` with the kernel's value at `from`, `from + step` and so on.
  ///
  /// sinc(x)·sinc(x/3) is sin²u·(3 − 4·sin²u) / 3u² for u = πx/3, and the sine at one point gives that at the next by a
  /// rotation: a few `sin` and `cos` calls for all.
  static func forEachValue(from: Double, step: Double, count: Int, _ body: (_ index: Int, Double) -> Void) {
    let unit = Double.pi / lobes
    var (sine, cosine) = (sin(from * unit), cos(from * unit))
    let (sineOfStep, cosineOfStep) = (sin(step * unit), cos(step * unit))
    for index in 0..<count {
      let u = (from + Double(index) * step) * unit
      let square = sine * sine
      body(index, abs(u) < 1e-4 ? 1 : square * (3 - 4 * square) / (3 * u * u))
      (sine, cosine) = (sine * cosineOfStep + cosine * sineOfStep, cosine * cosineOfStep - sine * sineOfStep)
    }
  }
}

/// The kernels computed last: a gallery reduces images of a few sizes to cells of one size, and a kernel costs as much
/// as resampling a hundred rows.
enum KernelCache {
  /// The bytes of weights kept.
  private static let capacity = 1 << 20
  private static let state = Mutex(State())

  private struct State {
    var kernels: [ResampleKernel.Axis: ResampleKernel] = [:]
    var bytes = 0
  }

  /// The kernel of an axis.
  static func kernel(_ axis: ResampleKernel.Axis) -> ResampleKernel {
    if let known = state.withLock({ $0.kernels[axis] }) { return known }
    let kernel = ResampleKernel(axis)
    state.withLock { state in
      // All are dropped at once: used kernels are soon computed again.
      if state.bytes + kernel.bytes > capacity { state = State() }
      if kernel.bytes <= capacity, state.kernels.updateValue(kernel, forKey: axis) == nil {
        state.bytes += kernel.bytes
      }
    }
    return kernel
  }
}
