import CVips
import JPEGCoefficients
import ThumbnailCore

/// Opens a body with the plan's reader, and maps libvips' errors to `CodecError`.
struct ImageDecoder {
  let body: ByteSource
  let plan: DecodePlan
  let pass: DecodePlan.Pass
  let cancellation: CancellationFlag
  /// Opens the formats that are read only in a helper; nil for formats read in process.
  var helperOnly: HelperOnlyReader?

  /// Decodes the image and computes the result of `reduce`. The decoder's memory is free on return.
  ///
  /// `reduce` gets the image as stored, not yet upright, in its own colours; its rows can be read once, from top to
  /// bottom.
  func decode(_ reduce: (LibvipsImage) throws(CodecError) -> LibvipsImage) throws(CodecError) -> Raster {
    try withImage { image throws(CodecError) in
      try checkSize(image.size)
      return try Raster(computing: try reduce(salvagesRows ? try salvaged(image) : image))
    }
  }

  /// Opens the image, or all frames of an animated one stacked vertically, and passes it to `body`.
  func withImage<Result>(_ body: (LibvipsImage) throws(CodecError) -> Result) throws(CodecError) -> Result {
    if cancellation.isSet { throw .cancelled }
    try Codec.start()
    try checkScans()
    // Text that earlier images left in the error buffer would otherwise be taken for this one's.
    vips_error_clear()
    let reader = BodyReader(self.body, ending: missingEnd, cancellation: cancellation)
    do throws(CodecError) {
      let image = try open(reader)
      reader.watch(image)
      return try body(image)
    } catch {
      throw explain(error, reader)
    }
  }

  /// The image's metadata that a policy keeps; nil if it cannot be read. A helper keeps none of the formats that only
  /// it reads.
  func metadata(_ policy: MetadataPolicy) -> KeptMetadata? {
    guard policy != .none, helperOnly == nil, !cancellation.isSet, (try? Codec.start()) != nil else { return nil }
    defer { vips_error_clear() }
    guard let image = try? open(BodyReader(body, cancellation: cancellation)) else { return nil }
    return KeptMetadata(policy, of: image)
  }

  func open(_ reader: BodyReader) throws(CodecError) -> LibvipsImage {
    // A block missing before an end marker is only a warning in libjpeg.
    let strict = reader.addsEnding ? VIPS_FAIL_ON_WARNING : VIPS_FAIL_ON_ERROR
    let failOn = plan.isTolerant && !salvagesRows ? VIPS_FAIL_ON_NONE : strict
    if let helperOnly { return try helperOnly.open(reader, failOn, isTolerant: plan.isTolerant) }
    let format = plan.probe.format
    guard format.isReadInProcess else { throw .unsupportedFormat(format) }
    return try reader.load(format, failOn, option: loaderOption)
  }

  private var loaderOption: BodyReader.LoaderOption? {
    switch pass.reader {
    case .libvips, .coefficients: return nil
    case .shrunkJPEG(let factor): return .shrink(factor)
    case .scaledWebP(let size):
      let stored = plan.probe.storedSize
      return .scale(max(Double(size.width) / Double(stored.width), Double(size.height) / Double(stored.height)))
    case .frames: return .allFrames
    }
  }

  /// The predicted memory and the thumbnails' sizes follow from our own header parser; a decoder that sees a different
  /// size would invalidate both. Tolerates libwebp's rounding.
  private func checkSize(_ size: PixelSize) throws(CodecError) {
    let tolerance = if case .scaledWebP = pass.reader { 1 } else { 0 }
    guard abs(size.width - pass.baseSize.width) <= tolerance, abs(size.height - pass.baseSize.height) <= tolerance
    else {
      throw .damaged(.header, detail: "the header says \(pass.baseSize), the decoder \(size)")
    }
  }

  // MARK: JPEG

  /// The end marker, for a JPEG that apparently lacks only that: of a progressive one libjpeg finds out before the
  /// first row whether the last scan is complete.
  private var missingEnd: [UInt8] {
    guard plan.probe.format == .jpeg, !plan.isTolerant, !JPEGStructure.hasEnd(body) else { return [] }
    let isWhole = plan.probe.isProgressive ? JPEGStructure.hasAllScans(body) : hasAllBlocks
    return isWhole ? JPEGStructure.endMarker : []
  }

  /// Whether a sequential JPEG has all its blocks; libjpeg would report missing ones only with the last rows. True for
  /// files that only libjpeg can read.
  private var hasAllBlocks: Bool {
    do throws(CodecError) {
      _ = try Raster(coefficients(at: .eighth))
      return true
    } catch {
      if case .handedOver = error { return true }
      return false
    }
  }

  /// Refuses a progressive JPEG with so many scans that it would block the decoder for long, and, if truncated files
  /// are accepted, one without a single pixel.
  private func checkScans() throws(CodecError) {
    guard plan.probe.format == .jpeg, plan.probe.isProgressive || plan.isTolerant else { return }
    let found: JPEGStructure
    do throws(JPEGError) {
      found = try JPEGStructure(of: body)
    } catch {
      throw CodecError(error)
    }
    if found.scanCount > JPEGStructure.mostScans {
      throw .limitExceeded(.scans, value: found.scanCount, maximum: JPEGStructure.mostScans)
    }
    if found.firstScanBytes == 0 { throw .truncated(detail: "after the header") }
    if plan.isTolerant { try checkFirstBlocks() }
  }

  /// Refuses a JPEG without a single complete block, which libjpeg would decode to grey. Accepts what only libjpeg can
  /// read.
  private func checkFirstBlocks() throws(CodecError) {
    do throws(CodecError) {
      _ = try Raster(coefficients(at: .eighth, isTolerant: true))
    } catch {
      switch error {
      case .truncated, .cancelled, .unreadableBody: throw error
      default: return
      }
    }
  }

  /// Decodes the JPEG's coefficients instead.
  func coefficients(at scale: JPEGScale, isTolerant: Bool = false, expectsEnd: Bool = false) -> CoefficientDecoder {
    CoefficientDecoder(
      body, size: plan.probe.storedSize, scale: scale, isTolerant: isTolerant, expectsEnd: expectsEnd,
      cancellation: cancellation)
  }

  // MARK: Errors

  func explain(_ error: CodecError, _ reader: BodyReader) -> CodecError {
    if cancellation.isSet { return .cancelled }
    guard case .damaged(_, let detail) = error else { return error }
    if reader.failedToRead { return .unreadableBody(detail: detail) }
    return endsEarly(reader) ? .truncated(detail: detail) : error
  }

  /// Whether the body is a GIF without its trailer byte.
  var lacksTrailer: Bool {
    plan.probe.format == .gif && (try? body.read(at: body.count - 1, length: 1)) != [0x3B]
  }

  /// Whether a failure was caused by missing bytes. Decoders that stream their file have read past its end; the others
  /// load all of it first, so the file's structure is checked.
  private func endsEarly(_ reader: BodyReader) -> Bool {
    switch plan.probe.format {
    case .webp:
      let header = try? HeaderBytes(body.read(at: 4, length: 4))
      return header?.littleEndian(at: 0, count: 4).map { $0 + 8 > body.count } ?? true
    case .gif:
      return lacksTrailer
    case .tiff:
      return reader.ranShort
    case .heif, .avif:
      return HEIFHeader.endsEarly(body)
    default:
      return reader.ranDry
    }
  }
}
