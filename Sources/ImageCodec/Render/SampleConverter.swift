/// Converts rows to 16-bit samples with `RowResampler.fractionBits` fraction bits: rows with alpha, whose colours are
/// multiplied by it so that transparent pixels do not bleed into their neighbours, and rows of 16 bits.
struct SampleConverter {
  private let channels: Int
  private let hasAlpha: Bool
  private let sample: RowLayout.Sample

  /// The converter for rows of a layout; nil if they can be resampled as they are.
  init?(_ layout: RowLayout) {
    guard layout.hasAlpha || layout.sample != .uint8 else { return nil }
    (channels, hasAlpha, sample) = (layout.planes[0].channels, layout.hasAlpha, layout.sample)
  }

  /// Converts `count` pixels.
  func convert(_ row: UnsafeRawPointer, count: Int, into output: UnsafeMutablePointer<Int16>) {
    switch sample {
    case .uint8: convert(row.assumingMemoryBound(to: UInt8.self), count, output)
    case .uint16: convert(row.assumingMemoryBound(to: UInt16.self), count, output)
    }
  }

  private func convert(_ row: UnsafePointer<UInt8>, _ count: Int, _ output: UnsafeMutablePointer<Int16>) {
    switch channels {
    case 2: premultiply(row, count, output, channels: 2)
    default: premultiply(row, count, output, channels: 4)
    }
  }

  @inline(__always)
  private func premultiply(
    _ row: UnsafePointer<UInt8>, _ count: Int, _ output: UnsafeMutablePointer<Int16>, channels: Int
  ) {
    for pixel in 0..<count {
      let first = pixel &* channels
      let alpha = Int32(row[first &+ channels &- 1])
      for channel in first..<first &+ channels &- 1 {
        // 64 / 255 is 257 / 1024, apart from 15 millionths.
        output[channel] = Int16(truncatingIfNeeded: (Int32(row[channel]) &* alpha &* 257 &+ 512) &>> 10)
      }
      output[first &+ channels &- 1] = Int16(truncatingIfNeeded: alpha &<< 6)
    }
  }

  private func convert(_ row: UnsafePointer<UInt16>, _ count: Int, _ output: UnsafeMutablePointer<Int16>) {
    let white: UInt32 = 255 << UInt32(RowResampler.fractionBits)
    guard hasAlpha else {
      for index in 0..<count * channels {
        output[index] = Int16(truncatingIfNeeded: (UInt32(row[index]) &* white &+ 1 << 15) &>> 16)
      }
      return
    }
    for pixel in 0..<count {
      let first = pixel &* channels
      let alpha = UInt32(row[first &+ channels &- 1])
      for channel in first..<first &+ channels &- 1 {
        let product = (UInt32(row[channel]) &* alpha &+ 1 << 15) &>> 16
        output[channel] = Int16(truncatingIfNeeded: (product &* white &+ 1 << 15) &>> 16)
      }
      output[first &+ channels &- 1] = Int16(truncatingIfNeeded: (alpha &* white &+ 1 << 15) &>> 16)
    }
  }
}
