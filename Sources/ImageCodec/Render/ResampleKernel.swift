import Foundation

/// The weights that compute each new sample along one axis: Lanczos with three lobes, stretched by the reduction
/// factor, as libvips, Pillow and ImageMagick downsample by default.
///
/// Beyond the edge the outermost sample is repeated, as in libvips.
struct ResampleKernel {
  /// 1 in fixed point with `fractionBits` fraction bits; the weights of each sample sum to exactly this.
  static let one = 1 << fractionBits
  static let fractionBits = 14

  /// The number of weights per sample.
  let taps: Int
  /// The source index where each new sample's window begins, ascending. The window may extend beyond the source, with
  /// weights of 0.
  private(set) var starts: [Int]
  /// `taps` weights per new sample, in sample order.
  private(set) var weights: [Int16]
  /// The range of source samples that are used.
  private(set) var source: Range<Int>

  /// The kernel for the new samples in `range`, out of `target` that cover the first `extent` of `count` source
  /// samples.
  ///
  /// The counts are at least 1, `extent` is positive, `range` is within the new samples. The number of taps is rounded
  /// up to a multiple of `group`, and every start down to one of `alignment`, both powers of two.
  init(count: Int, extent: Double, target: Int, range: Range<Int>, group: Int, alignment: Int) {
    let scale = extent / Double(target)
    let stretch = max(1, scale)
    func inside(_ position: Int) -> Int { min(max(position, 0), count - 1) }
    let windows = range.map { index in
      // The centres of source samples are at whole numbers.
      let middle = (Double(index) + 0.5) * scale - 0.5
      let first = Int((middle - Self.lobes * stretch).rounded(.up))
      let last = Int((middle + Self.lobes * stretch).rounded(.down))
      return (middle: middle, first: first, last: last, start: inside(first) & ~(alignment - 1))
    }
    let widest = windows.map { inside($0.last) - $0.start + 1 }.max() ?? 1
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
      Self.forEachValue(
        from: (Double(window.first) - window.middle) / stretch, step: 1 / stretch, count: window.last - window.first + 1
      ) { index, value in
        exact[inside(window.first + index) - window.start] += value
        total += value
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

  private static let lobes = 3.0

  /// Calls `body` with the kernel's value at `from`, `from + step` and so on.
  ///
  /// sinc(x)·sinc(x/3) is sin²u·(3 − 4·sin²u) / 3u² for u = πx/3, and the sine at one point gives that at the next by a
  /// rotation: a few `sin` and `cos` calls for all.
  private static func forEachValue(from: Double, step: Double, count: Int, _ body: (_ index: Int, Double) -> Void) {
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
