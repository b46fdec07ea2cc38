import ThumbnailCore

extension Raster {
  /// The image at another size: Lanczos with three lobes, in the samples' own colour space, within one level of exact.
  ///
  /// - Parameters:
  ///   - size: The size of the whole resampled image, in pixels.
  ///   - extent: The part of this raster that the image covers, in pixels from the upper left corner: 750.125 across
  ///     where 6001 pixels were reduced by eight to 751. Nil: all of it.
  ///   - crop: The part of the new image to compute, pixel for pixel equal to that part of the whole. Nil: all of it.
  /// - Throws: `.damaged(.shrink, …)` for invalid sizes, `.outOfMemory`.
  func resampled(
    to size: PixelSize, extent: PixelExtent? = nil, crop: PixelRectangle? = nil
  ) throws(CodecError) -> Raster {
    let part = crop ?? PixelRectangle(x: 0, y: 0, size: size)
    if size == self.size && extent == nil && part.size == size { return self }
    let source = RasterRowSource(self, extent: extent)
    let view = ViewRenderer.View(size: size, part: part, keepsPlanes: true)
    let rasters = try ViewRenderer(source.layout, views: [view]).render(
      source, cancellation: CancellationFlag())
    return rasters[0].of(space)
  }

  /// The image converted from its profile or inks to sRGB or gray.
  ///
  /// - Throws: `.handedOver` for colours that only a library converts, if no library may be used.
  func standardColours(keepingProfile: Bool = false) throws(CodecError) -> Raster {
    let found = keepingProfile ? nil : profile.flatMap { ICCProfile($0) }
    guard found?.isSRGB == false || space == .cmyk else { return self }
    let shown = try rgb()
    defer { withExtendedLifetime(shown) {} }
    if shown.space == .rgb, let profile = found.flatMap({ MatrixProfile($0) }) {
      return try profile.converted(shown)
    }
    return try Raster(computing: try shown.image().standardColours(keepingProfile: keepingProfile))
  }
}

/// The rows of a raster.
private final class RasterRowSource: RowSource {
  let layout: RowLayout
  private let raster: Raster
  private var isRead = false

  init(_ raster: Raster, extent: PixelExtent?) {
    self.raster = raster
    var rows = RowLayout(size: raster.size, channels: raster.bands, profile: raster.profile)
    rows.hasAlpha = raster.hasAlpha
    if let extent { rows.planes[0].extent = extent }
    layout = rows
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    if isRead { return false }
    isRead = true
    try raster.withBytes { bytes throws(CodecError) in
      guard let start = bytes.baseAddress else { return }
      let stride = raster.size.width * raster.bands
      try receive(RowBand(start: start, stride: stride, count: raster.size.height, isLasting: true))
    }
    return true
  }
}
