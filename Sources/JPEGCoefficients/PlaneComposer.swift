/// Composes interleaved RGB, or gray, from the components' planes: upsamples chroma to luma's resolution and converts
/// colours, row by row in one pass.
struct PlaneComposer {
  /// A component's plane and its subsampling: the pixels across and down per sample.
  struct Source {
    var plane: SamplePlane
    var across: Int
    var down: Int
  }

  var sources: [Source]
  var size: JPEGSize
  /// Whether three components are luma and chroma.
  var isYCC: Bool

  /// Writes the image, rows from the top down without padding.
  func compose(into target: UnsafeMutableRawBufferPointer) {
    let width = size.width
    precondition(target.count == size.pixelCount * sources.count, "room for every sample")
    for source in sources {
      precondition(source.plane.rowBytes * source.across >= width && source.plane.rows * source.down >= size.height)
    }
    guard let start = target.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    if sources.count == 1 {
      // A single component has full resolution.
      for y in 0..<size.height { (start + y * width).update(from: sources[0].plane.row(y), count: width) }
      return
    }
    let scratch = UnsafeMutablePointer<UInt32>.allocate(capacity: width)
    defer { scratch.deallocate() }
    var first = RowExpander(sources[0], width: width)
    var second = RowExpander(sources[1], width: width)
    var third = RowExpander(sources[2], width: width)
    for y in 0..<size.height {
      let output = start + y * width * 3
      let (a, b, c) = (first.row(y), second.row(y), third.row(y))
      if isYCC {
        PixelRow.convert(luma: a, blue: b, red: c, into: output, count: width, scratch: scratch)
      } else {
        PixelRow.interleave(a, b, c, into: output, count: width)
      }
    }
  }
}
