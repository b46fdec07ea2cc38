package import ThumbnailCore

extension Raster {
  /// Decodes an image file of a format that is read in process, at most as large as `box`, opaque, gray or RGB. Never
  /// reads coefficients; the image is assumed to be upright. A RAW file is read as its preview.
  package convenience init(reading bytes: [UInt8], within box: PixelSize) throws(CodecError) {
    var body = ByteSource.memory(bytes)
    let variant = Variant(size: box, fit: .contain)
    var probe = try probe(body)
    if probe.isRAW {
      let preview = try RAWPreview([variant], of: probe, in: body)
      (body, probe) = (preview.bytes, preview.probe)
    }
    let plan = try DecodePlan.make(
      probe: probe, bodyLength: body.count, variants: [variant], memoryBudget: .max,
      mayReadCoefficients: false)
    guard let pass = plan.passes.first else { throw .invalidSize(box) }
    let size = ThumbnailGeometry(source: plan.probe.storedSize, variant: variant).view
    let decoder = ImageDecoder(body: body, plan: plan, pass: pass, cancellation: CancellationFlag())
    let raster = try decoder.raster(of: size).flattened(onto: .white)
    self.init(raster, space: raster.space)
  }
}

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
