package import ThumbnailCore

extension Raster {
  /// Decodes an image file of a format that is read in process, at most as large as `box`, opaque, gray or RGB. Always
  /// uses libvips' decoder; the image is assumed to be upright.
  package convenience init(reading bytes: [UInt8], within box: PixelSize) throws(CodecError) {
    let body = ByteSource.memory(bytes)
    let variant = Variant(size: box, fit: .contain)
    let plan = try DecodePlan.make(
      probe: try probe(body), bodyLength: bytes.count, variants: [variant], memoryBudget: .max,
      mayReadCoefficients: false)
    guard let pass = plan.passes.first else { throw .invalidSize(box) }
    let size = ThumbnailGeometry(source: plan.probe.storedSize, variant: variant).view
    let decoder = ImageDecoder(body: body, plan: plan, pass: pass, cancellation: CancellationFlag())
    let raster = try decoder.decode { image throws(CodecError) in
      try image.standardColours().resized(to: size).flattened(onto: .white)
    }
    try self.init(size: raster.size, bands: raster.bands) { samples throws(CodecError) in
      try raster.withBytes { samples.copyMemory(from: $0) }
    }
  }
}
