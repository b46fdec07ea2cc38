import ThumbnailCore

extension ImageDecoder {
  /// The whole image as stored, reduced to a size, in standard colours.
  func raster(of size: PixelSize) throws(CodecError) -> Raster {
    let source = try rows()
    let view = ViewRenderer.View(size: size, part: PixelRectangle(x: 0, y: 0, size: size))
    let rasters = try ViewRenderer(source.layout, views: [view]).render(
      source, fillsDamage: plan.isTolerant, cancellation: cancellation)
    return try rasters[0].standardColours()
  }
}
