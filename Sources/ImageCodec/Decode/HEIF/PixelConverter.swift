import HEIFContainer
import ThumbnailCore

/// Converts rows of luma, chroma and alpha to interleaved RGB with or without alpha, of 8 bits, or of 16 for samples of
/// more than eight. Chroma is repeated for the pixels that share it.
struct PixelConverter {
  /// Three, or four with alpha.
  let channels: Int
  private let luma: [Float]
  private let chroma: [Float]
  private let alpha: [Float]
  private let isWide: Bool
  /// Whether the planes are green, blue and red.
  private let isRGB: Bool
  /// Whether the colours are divided by alpha.
  private let isPremultiplied: Bool
  private let factors: (red: Float, greenOfRed: Float, greenOfBlue: Float, blue: Float)

  /// - Parameter alphaBits: The bits of the samples of alpha; nil if there is none.
  /// - Throws: `.handedOver` for a matrix that is not known.
  init(bits: Int, colour: CodedColour, alphaBits: Int?, isPremultiplied: Bool = false) throws(CodecError) {
    self.isPremultiplied = isPremultiplied
    let range = CodedRange(bits: bits, isFull: colour.isFullRange)
    isRGB = colour.matrix == 0
    guard let weights = isRGB ? .jfif : LumaWeights(matrix: colour.matrix) else {
      throw .handedOver(reason: "the matrix \(colour.matrix)")
    }
    let factors = weights.factors
    self.factors = (
      Float(factors.redOfRed), Float(factors.greenOfRed), Float(factors.greenOfBlue), Float(factors.blueOfBlue)
    )
    luma = range.fractions(isChroma: false)
    chroma = isRGB ? luma : range.fractions(isChroma: true)
    alpha = alphaBits.map { CodedRange(bits: $0, isFull: true).fractions(isChroma: false) } ?? []
    (isWide, channels) = (bits > 8, alphaBits == nil ? 3 : 4)
  }

  /// The rows of one line of pixels.
  struct Line {
    var luma: UnsafeRawPointer
    /// Nil for a monochrome image.
    var chroma: (UnsafeRawPointer, UnsafeRawPointer)?
    /// The pixels that share a sample of chroma.
    var across: Int
    var alpha: UnsafeRawPointer?
    /// Whether alpha has more than 8 bits.
    var isAlphaWide = false
    /// The pixel that the line begins with.
    var first: Int
  }

  /// Converts `count` pixels. The output has room for as many of `channels` samples.
  func convert(_ line: Line, count: Int, into output: UnsafeMutableRawPointer) {
    if isWide {
      convert(line, count, UInt16.self, output.assumingMemoryBound(to: UInt16.self), white: 65_535)
    } else {
      convert(line, count, UInt8.self, output.assumingMemoryBound(to: UInt8.self), white: 255)
    }
  }

  @inline(__always)
  private func convert<Sample: FixedWidthInteger & UnsignedInteger>(
    _ line: Line, _ count: Int, _ type: Sample.Type, _ output: UnsafeMutablePointer<Sample>, white: Float
  ) {
    func level(_ value: Float) -> Sample {
      Sample(truncatingIfNeeded: Int32(max(0, min(white, value * white + 0.5))))
    }
    // A damaged sample may have bits beyond those of its table.
    let most = luma.count - 1
    func value(_ row: UnsafeRawPointer, _ index: Int) -> Int {
      min(most, Int(row.load(fromByteOffset: index &* MemoryLayout<Sample>.size, as: Sample.self)))
    }
    luma.withUnsafeBufferPointer { luma in
      chroma.withUnsafeBufferPointer { chroma in
        for x in 0..<count {
          let place = line.first &+ x
          let pixel = output + x &* channels
          let y = luma[value(line.luma, place)]
          guard let planes = line.chroma else {
            (pixel[0], pixel[1], pixel[2]) = (level(y), level(y), level(y))
            continue
          }
          let shared = place / line.across
          let (blue, red) = (chroma[value(planes.0, shared)], chroma[value(planes.1, shared)])
          if isRGB {
            (pixel[0], pixel[1], pixel[2]) = (level(red), level(y), level(blue))
          } else {
            pixel[0] = level(y + factors.red * red)
            pixel[1] = level(y + factors.greenOfBlue * blue + factors.greenOfRed * red)
            pixel[2] = level(y + factors.blue * blue)
          }
        }
      }
    }
    guard let row = line.alpha else { return }
    for x in 0..<count {
      let place = line.first &+ x
      let found =
        line.isAlphaWide
        ? Int(row.load(fromByteOffset: 2 &* place, as: UInt16.self))
        : Int(row.load(fromByteOffset: place, as: UInt8.self))
      output[x &* 4 &+ 3] = level(alpha[min(alpha.count - 1, found)])
    }
    if isPremultiplied { StoredColours.unpremultiply(output, pixels: count, channels: 4) }
  }
}
