import CVips
package import ThumbnailCore

/// Makes the thumbnails of an image whose format only a helper decodes.
///
/// For the helper only, because libvips parses the header. A drawing (SVG, PDF) has no pixels: it is rendered at the
/// size that the largest thumbnail needs, so it is never too small for a box.
package struct HelperOnlyDownsampler {
  let body: ByteSource
  let file: FileDescriptor
  let format: ImageFormat
  let limits: DecodeLimits
  let memoryLimit: Int

  package init(
    body: ByteSource, file: FileDescriptor, format: ImageFormat, limits: DecodeLimits, memoryLimit: Int
  ) {
    self.body = body
    self.file = file
    self.format = format
    self.limits = limits
    self.memoryLimit = memoryLimit
  }

  /// Decodes and renders every thumbnail, one result per variant, and the image's size. With
  /// `isTolerant` the rows before the damage are used.
  ///
  /// - Throws: Errors that concern all variants.
  package func pixels(
    for variants: [Variant], isTolerant: Bool = false
  ) throws(CodecError) -> (results: [Rendered<ThumbnailRaster>], size: PixelSize) {
    let made = try pixels(for: variants, isTolerant: isTolerant, usesLevels: true)
    guard format == .jpeg2000, made.results.contains(where: \.isOfDamagedImage) else { return made }
    // A tile may have fewer resolution levels than the header states; only its decoder finds out.
    return try pixels(for: variants, isTolerant: isTolerant, usesLevels: false)
  }

  private func pixels(
    for variants: [Variant], isTolerant: Bool, usesLevels: Bool
  ) throws(CodecError) -> (results: [Rendered<ThumbnailRaster>], size: PixelSize) {
    try limits.check(byteCount: body.count)
    var reader = try HelperOnlyReader(format: format, body: body, file: file)
    let whole = try header(reader)
    if !format.isDrawing { try limits.check(whole) }
    guard whole.size.width > 0, whole.size.height > 0 else { throw .damaged(.header, detail: "it has no size") }
    let steps = try [DecodePlan.Step](variants, of: whole.size, isDrawing: format.isDrawing).checked()
    // A drawing rendered at its own size is as good as one that is reduced.
    let needed = steps.neededSize(isCoarse: format.isDrawing)
    let probe = try reduce(&reader, from: whole, to: needed, usesLevels: usesLevels)
    let pass = DecodePlan.Pass(probe: probe, steps: steps, rule: ScaleRule(probe, bodyLength: nil))
    let cost = DecodeCost.peak(of: pass, probe: probe, bodyLength: body.count)
    if cost > memoryLimit { throw .helperFailed(.outOfMemory(limit: memoryLimit)) }
    let plan = DecodePlan(
      probe: probe, passes: [pass], predictedBytes: cost, isTolerant: isTolerant, isBodyWhole: true)
    let decoder = ImageDecoder(
      body: reader.body, plan: plan, pass: pass, cancellation: CancellationFlag(), helperOnly: reader)
    return (RenderPass(decoder: decoder).run(), whole.size)
  }

  /// Sets the reader to the smallest sufficient size, and reads the header again.
  private func reduce(
    _ reader: inout HelperOnlyReader, from whole: ImageProbe, to needed: PixelSize, usesLevels: Bool
  ) throws(CodecError) -> ImageProbe {
    let size = whole.size
    if format.isDrawing {
      var drawn = whole
      drawn.storedSize = needed
      try limits.check(drawn)
      reader.scale = max(
        Double(needed.width) / Double(size.width), Double(needed.height) / Double(size.height))
    } else if format == .jpeg2000, usesLevels {
      while reader.page + 1 < whole.frameCount ?? 1 {
        let halved = PixelSize(size.width >> (reader.page + 1), size.height >> (reader.page + 1))
        guard halved.width >= needed.width, halved.height >= needed.height else { break }
        reader.page += 1
      }
      if reader.page == 0 { return whole }
    } else {
      return whole
    }
    let reduced = try header(reader)
    try limits.check(reduced)
    return reduced
  }

  /// The header as the format's reader parses it.
  private func header(_ reader: HelperOnlyReader) throws(CodecError) -> ImageProbe {
    try Codec.start()
    vips_error_clear()
    if let bitmap = reader.bitmap {
      // The pixels are read later, because the header may claim a size beyond the limits.
      var probe = ImageProbe(format: format, storedSize: bitmap.header.size)
      (probe.hasAlpha, probe.channels, probe.bitsPerSample) = (bitmap.hasAlpha, bitmap.hasAlpha ? 4 : 3, 8)
      return probe
    }
    if let probe = try reader.probe() { return probe }
    let bytes = BodyReader(reader.body, cancellation: CancellationFlag())
    let image: LibvipsImage
    do throws(CodecError) {
      image = try reader.open(bytes, VIPS_FAIL_ON_ERROR)
    } catch {
      guard case .damaged(_, let detail) = error, bytes.ranDry else { throw error }
      if reader.isEncrypted { throw .unsupported("a PDF with a password") }
      throw .truncated(detail: detail)
    }
    var probe = ImageProbe(format: format, storedSize: image.size)
    probe.hasAlpha = image.hasAlpha
    probe.channels = image.bands
    probe.bitsPerSample = 8 * Int(vips_format_sizeof(image.format))
    if let levels = reader.levels(of: image) { (probe.frameCount, probe.blockBytes) = levels }
    return probe
  }
}
