/// Makes interleaved RGB, or gray, of the components' planes: brings chroma to luma's resolution and converts colours,
/// row by row in one pass.
struct PlaneComposer {
  /// A component's plane, with the number of pixels across and down for each of its samples.
  struct Source {
    var plane: SamplePlane
    var across: Int
    var down: Int
  }

  var sources: [Source]
  var size: PixelSize
  /// Whether three components are luma and chroma.
  var isYCC: Bool

  /// Writes the picture, rows from the top down without padding.
  func compose(into target: UnsafeMutableRawBufferPointer) {
    let width = size.width
    precondition(target.count == size.pixelCount * sources.count, "room for every sample")
    guard let start = target.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    for source in sources {
      precondition(source.plane.rowBytes * source.across >= width && source.plane.rows * source.down >= size.height)
    }
    if sources.count == 1 {
      for y in 0..<size.height {
        let row = sources[0].plane.row(y / sources[0].down)
        Self.expand(row, by: sources[0].across, into: start + y * width, count: width)
      }
      return
    }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * width) { scratch in
      guard let scratch = scratch.baseAddress else { return }
      for y in 0..<size.height {
        let rows = (0..<3).map { index -> UnsafePointer<UInt8> in
          let source = sources[index]
          let row = source.plane.row(y / source.down)
          if source.across == 1 { return row }
          let expanded = scratch + index * width
          Self.expand(row, by: source.across, into: expanded, count: width)
          return UnsafePointer(expanded)
        }
        let output = start + y * width * 3
        if isYCC {
          Self.convert(rows[0], rows[1], rows[2], into: output, count: width)
        } else {
          for x in 0..<width {
            output[3 * x] = rows[0][x]
            output[3 * x + 1] = rows[1][x]
            output[3 * x + 2] = rows[2][x]
          }
        }
      }
    }
  }

  private static func expand(
    _ row: UnsafePointer<UInt8>, by factor: Int, into target: UnsafeMutablePointer<UInt8>, count: Int
  ) {
    if factor == 1 { return target.update(from: row, count: count) }
    for x in 0..<count { target[x] = row[x / factor] }
  }

  /// From luma and chroma to RGB with libjpeg's constants of 16 bits.
  private static func convert(
    _ luma: UnsafePointer<UInt8>, _ blue: UnsafePointer<UInt8>, _ red: UnsafePointer<UInt8>,
    into target: UnsafeMutablePointer<UInt8>, count: Int
  ) {
    for x in 0..<count {
      let y = Int32(luma[x])
      let cb = Int32(blue[x]) &- 128
      let cr = Int32(red[x]) &- 128
      let r = y &+ (91881 &* cr &+ 32768) &>> 16
      let g = y &+ (-22554 &* cb &- 46802 &* cr &+ 32768) &>> 16
      let b = y &+ (116130 &* cb &+ 32768) &>> 16
      target[3 &* x] = UInt8(truncatingIfNeeded: max(0, min(255, r)))
      target[3 &* x &+ 1] = UInt8(truncatingIfNeeded: max(0, min(255, g)))
      target[3 &* x &+ 2] = UInt8(truncatingIfNeeded: max(0, min(255, b)))
    }
  }
}
