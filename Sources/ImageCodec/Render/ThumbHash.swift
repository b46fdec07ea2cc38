import FoundationEssentials
import Glibc

/// An image as a few cosines: Evan Wallace's ThumbHash, written from its published description.
///
/// A discrete cosine transform of luminance, two colour differences and transparency keeps the lowest coefficients,
/// with four bits for each.
struct ThumbHash {
  /// The samples of an image, at most 32 a side, row by row: red, green, blue and alpha of each from 0 to 1, not premultiplied.
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
    var weighted = SIMD4<Float>.zero
    for sample in samples.values {
      var part = sample * sample.w
      part.w = sample.w
      weighted += part
    }
    let opacity = weighted.w
    let mean = opacity > 0 ? weighted / opacity : .zero
    self.mean = mean
    let hasAlpha = opacity < count
    let longest = Float(max(samples.width, samples.height))
    let limit: Float = hasAlpha ? 5 : 7
    let across = max(1, Int((limit * Float(samples.width) / longest).rounded()))
    let down = max(1, Int((limit * Float(samples.height) / longest).rounded()))
    let transform = Transform(samples, mean: mean)
    let l = transform.channel(max(3, across), max(3, down)) { $0.luminance }
    let p = transform.channel(3, 3) { $0.yellowBlue }
    let q = transform.channel(3, 3) { $0.redGreen }
    let a = hasAlpha ? transform.channel(5, 5) { $0.alpha } : Channel()

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

  /// A row's sums, one for each horizontal frequency: seven are used.
  private typealias Frequencies = SIMD8<Float>

  /// The cosines by the length of a side, then by place: those of all lengths take 17 kB.
  private static let cosines = (0...longestSide).map { length in
    (0..<length).map { place in
      Frequencies((0..<Frequencies.scalarCount).map { cos(.pi / Float(length) * Float($0) * (Float(place) + 0.5)) })
    }
  }
  private static let longestSide = 32

  /// The sums of the rows, in all channels: each sample is read once for all horizontal frequencies.
  private struct Transform {
    struct Line {
      var luminance = Frequencies.zero
      var yellowBlue = Frequencies.zero
      var redGreen = Frequencies.zero
      var alpha = Frequencies.zero
    }

    private let lines: [Line]
    private let down: [Frequencies]
    private let count: Float

    init(_ samples: Samples, mean: SIMD4<Float>) {
      let (width, height) = (samples.width, samples.height)
      let across = ThumbHash.cosines[width]
      down = ThumbHash.cosines[height]
      count = Float(width * height)
      lines = samples.values.withUnsafeBufferPointer { values in
        (0..<height).map { y in
          var line = Line()
          for x in 0..<width {
            let sample = values[y &* width &+ x]
            // Transparent pixels get the mean colour, which costs no coefficients.
            let colour = mean * (1 - sample.w) + sample * sample.w
            let cosines = across[x]
            line.luminance += (colour.x + colour.y + colour.z) / 3 * cosines
            line.yellowBlue += ((colour.x + colour.y) / 2 - colour.z) * cosines
            line.redGreen += (colour.x - colour.y) * cosines
            line.alpha += sample.w * cosines
          }
          return line
        }
      }
    }

    /// Keeps the coefficients of a channel below the diagonal of `columns` × `rows`.
    func channel(_ columns: Int, _ rows: Int, of part: (Line) -> Frequencies) -> Channel {
      let lines = lines.map(part)
      var channel = Channel()
      for row in 0..<rows {
        var column = 0
        while column * rows < columns * (rows - row) {
          var sum: Float = 0
          for y in lines.indices { sum += lines[y][column] * down[y][row] }
          sum /= count
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
