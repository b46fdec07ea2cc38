/// The largest and the mean difference of the samples of one image from those of another of the same size.
///
/// Here, as all below, because this module is optimised, and those of the tests are not.
func difference(of samples: [UInt8], from others: [UInt8]) -> (most: Int, mean: Double) {
  guard samples.count == others.count else { return (255, 255) }
  var (most, sum) = (0, 0)
  for index in samples.indices {
    let difference = abs(Int(samples[index]) - Int(others[index]))
    most = max(most, difference)
    sum += difference
  }
  return (most, Double(sum) / Double(max(1, samples.count)))
}

/// Pixels of three bands with an alpha of 255.
func withOpaqueAlpha(_ pixels: [UInt8]) -> [UInt8] {
  var result = [UInt8](repeating: 255, count: pixels.count / 3 * 4)
  for pixel in 0..<pixels.count / 3 {
    for band in 0..<3 { result[4 * pixel + band] = pixels[3 * pixel + band] }
  }
  return result
}

/// Pixels of four bands, of which the clear black ones are opaque.
func withOpaqueBlack(_ pixels: [UInt8]) -> [UInt8] {
  var result = pixels
  for start in stride(from: 0, to: pixels.count, by: 4) where pixels[start..<start + 4].allSatisfy({ $0 == 0 }) {
    result[start + 3] = 255
  }
  return result
}

extension DecodedPixels {
  /// The mean difference from a part of a larger image, in levels of the pixels' colours on black.
  func difference(from whole: DecodedPixels, at x: Int, _ y: Int) -> Double {
    var sum = 0.0
    for row in 0..<size.height {
      for column in 0..<size.width {
        let (ours, theirs) = (self[column, row], whole[x + column, y + row])
        for channel in 0..<3 { sum += abs(Self.onBlack(ours, channel) - Self.onBlack(theirs, channel)) }
      }
    }
    return sum / Double(3 * size.pixelCount)
  }

  private static func onBlack(_ pixel: [UInt8], _ channel: Int) -> Double {
    let value = Double(pixel[pixel.count < 3 ? 0 : channel])
    return pixel.count % 2 == 0 ? value * Double(pixel[pixel.count - 1]) / 255 : value
  }
}
