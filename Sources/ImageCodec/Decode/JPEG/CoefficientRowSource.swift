import JPEGCoefficients
import ThumbnailCore

/// Passes on the samples of the coefficient decoder: gray, luma and chroma, or RGB.
final class CoefficientRowSource: RowSource {
  let layout: RowLayout
  private let image: CoefficientImage
  /// The composed pixels of a JPEG of red, green and blue, or of one whose colours are converted.
  private let pixels: PixelMemory?
  private var isRead = false

  /// Decodes the image. Blocks; checks for cancellation once per row of blocks.
  ///
  /// With `convertsColours` luma and chroma become RGB.
  ///
  /// - Throws: `.handedOver` if the file differs from its header and libjpeg may succeed. Damage is an error, although
  ///   libjpeg would accept some of it and fill in grey.
  convenience init(_ decoder: CoefficientDecoder, convertsColours: Bool = false) throws(CodecError) {
    try self.init(decoder.decode(), convertsColours: convertsColours)
  }

  /// The same image with luma and chroma as RGB, each pixel within its range; not decoded again.
  func converted() throws(CodecError) -> CoefficientRowSource {
    try CoefficientRowSource(image, convertsColours: true)
  }

  private init(_ image: CoefficientImage, convertsColours: Bool) throws(CodecError) {
    self.image = image
    // At 1/2 a kernel for means of boxes gains nothing.
    let box = image.scale == .half ? 1 : image.scale.rawValue
    let planes = image.planes.map { RowLayout.Plane($0, box: box) }
    switch image.colours {
    case .ycc where !convertsColours:
      layout = RowLayout(planes: planes, profile: image.profile)
      pixels = nil
    case .gray:
      layout = RowLayout(.interleaved, planes: planes, profile: image.profile)
      pixels = nil
    case .rgb, .ycc:
      let size = image.size
      var rgb = RowLayout(size: size, channels: 3, profile: image.profile)
      (rgb.planes[0].extent, rgb.planes[0].box) = (planes[0].extent, box)
      layout = rgb
      let memory = try PixelMemory(size, bands: 3)
      image.compose(into: UnsafeMutableRawBufferPointer(start: memory.start, count: memory.byteCount))
      pixels = memory
    }
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    if isRead { return false }
    isRead = true
    for (index, plane) in layout.planes.enumerated() {
      let start = pixels.map { UnsafeRawPointer($0.start) } ?? UnsafeRawPointer(image.planes[index].start)
      let stride = pixels == nil ? image.planes[index].rowBytes : plane.size.width * plane.channels
      let band = RowBand(plane: index, start: start, stride: stride, count: plane.size.height, isLasting: true)
      try receive(band)
    }
    return true
  }
}

extension RowLayout.Plane {
  /// The layout of a component.
  init(_ plane: JPEGPlane, box: Int = 1) {
    func upsampling(_ pixels: Int) -> Int { plane.isAsStored && pixels == 2 ? 2 : 1 }
    self.init(
      size: plane.size, channels: 1,
      extent: PixelExtent(width: plane.extentAcross, height: plane.extentDown), box: box,
      upsampling: PixelSize(upsampling(plane.pixelsAcross), upsampling(plane.pixelsDown)))
  }
}
