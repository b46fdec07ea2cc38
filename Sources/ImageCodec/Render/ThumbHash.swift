import Foundation

/// An image as a few cosines: Evan Wallace's ThumbHash, written from its published description.
///
/// Luminance, two colour differences and transparency are each transformed by a discrete cosine transform, of which the
/// lowest coefficients are kept, with four bits for each.
struct ThumbHash {
  /// The samples of an image, row by row: red, green, blue and alpha of each from 0 to 1, not premultiplied.
  struct Samples {
    let width: Int
    let height: Int
    var values: [SIMD4<Float>]
  }

  /// A channel's transform: the mean, the other kept coefficients brought into 0 to 1, and their scale.
  private struct Channel {
    var mean: Float = 0
    var rest: [Float] = []
    var scale: Float = 0
  }

  /// 5 to 25 bytes.
  let bytes: Data
  /// The mean colour, weighted by alpha; 0 to 1.
  let mean: SIMD4<Float>

  init(_ samples: Samples) {
    let count = Float(samples.values.count)
    let weighted = samples.values.reduce(SIMD4<Float>.zero) { sum, sample in
      sum + SIMD4(sample.x * sample.w, sample.y * sample.w, sample.z * sample.w, sample.w)
    }
    let opacity = weighted.w
    let mean = opacity > 0 ? weighted / opacity : .zero
    self.mean = mean
    let hasAlpha = opacity < count
    var luminance: [Float] = []
    var yellowBlue: [Float] = []
    var redGreen: [Float] = []
    var alpha: [Float] = []
    for sample in samples.values {
      // What is transparent takes the mean colour, which costs no coefficients.
      let colour = mean * (1 - sample.w) + sample * sample.w
      luminance.append((colour.x + colour.y + colour.z) / 3)
      yellowBlue.append((colour.x + colour.y) / 2 - colour.z)
      redGreen.append(colour.x - colour.y)
      alpha.append(sample.w)
    }
    let basis = Basis(width: samples.width, height: samples.height)
    let longest = Float(max(samples.width, samples.height))
    let limit: Float = hasAlpha ? 5 : 7
    let across = max(1, Int((limit * Float(samples.width) / longest).rounded()))
    let down = max(1, Int((limit * Float(samples.height) / longest).rounded()))
    let l = basis.transform(luminance, max(3, across), max(3, down))
    let p = basis.transform(yellowBlue, 3, 3)
    let q = basis.transform(redGreen, 3, 3)
    let a = hasAlpha ? basis.transform(alpha, 5, 5) : Channel()

    let isLandscape = samples.width > samples.height
    var head = Self.bits(l.mean, 63) | Self.bits(0.5 + 0.5 * p.mean, 63) << 6
    head |= Self.bits(0.5 + 0.5 * q.mean, 63) << 12 | Self.bits(l.scale, 31) << 18 | (hasAlpha ? 1 << 23 : 0)
    var tail = (isLandscape ? down : across) | Self.bits(p.scale, 63) << 3
    tail |= Self.bits(q.scale, 63) << 9 | (isLandscape ? 1 << 15 : 0)
    var bytes = Data([head, head >> 8, head >> 16, tail, tail >> 8].map { UInt8(truncatingIfNeeded: $0) })
    if hasAlpha { bytes.append(UInt8(Self.bits(a.mean, 15) | Self.bits(a.scale, 15) << 4)) }
    var isUpperHalf = false
    for coefficient in l.rest + p.rest + q.rest + a.rest {
      let half = UInt8(Self.bits(coefficient, 15))
      if isUpperHalf { bytes[bytes.count - 1] |= half << 4 } else { bytes.append(half) }
      isUpperHalf.toggle()
    }
    self.bytes = bytes
  }

  /// A number from 0 to 1 in as many steps.
  private static func bits(_ value: Float, _ steps: Float) -> Int {
    Int((steps * min(1, max(0, value))).rounded())
  }

  /// The cosines of a size.
  private struct Basis {
    private static let most = 7

    let width: Int
    let height: Int
    /// By frequency, then place.
    private let across: [Float]
    private let down: [Float]

    init(width: Int, height: Int) {
      (self.width, self.height) = (width, height)
      across = Self.cosines(width)
      down = Self.cosines(height)
    }

    private static func cosines(_ length: Int) -> [Float] {
      (0..<most).flatMap { frequency in
        (0..<length).map { cos(.pi / Float(length) * Float(frequency) * (Float($0) + 0.5)) }
      }
    }

    /// Keeps the coefficients below the diagonal of `columns` × `rows`. Rows are transformed first, so that each sample
    /// is read once for each horizontal frequency.
    func transform(_ samples: [Float], _ columns: Int, _ rows: Int) -> Channel {
      var lines = [Float](repeating: 0, count: columns * height)
      for y in 0..<height {
        for frequency in 0..<columns {
          var sum: Float = 0
          for x in 0..<width { sum += samples[y * width + x] * across[frequency * width + x] }
          lines[frequency * height + y] = sum
        }
      }
      var channel = Channel()
      for row in 0..<rows {
        var column = 0
        while column * rows < columns * (rows - row) {
          var sum: Float = 0
          for y in 0..<height { sum += lines[column * height + y] * down[row * height + y] }
          sum /= Float(width * height)
          if row == 0 && column == 0 { channel.mean = sum } else { channel.rest.append(sum) }
          column += 1
        }
      }
      channel.scale = channel.rest.reduce(0) { max($0, abs($1)) }
      if channel.scale > 0 {
        let scale = channel.scale
        channel.rest = channel.rest.map { 0.5 + 0.5 / scale * $0 }
      }
      return channel
    }
  }
}
