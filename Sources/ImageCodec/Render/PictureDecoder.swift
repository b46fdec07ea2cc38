import JPEGCoefficients
import CVips
import ThumbnailCore

/// Opens a body with the reader that the plan names, and says what went wrong in the plan's terms.
struct PictureDecoder {
  let body: ByteSource
  let plan: DecodePlan
  let pass: DecodePlan.Pass
  let cancellation: CancellationFlag
  /// Opens the formats that are read in a helper only; nil for the pipeline's own.
  var foreign: ForeignReader?

  /// Decodes the picture and computes what `reduce` makes of it. The decoder's memory is free on return.
  ///
  /// `reduce` gets the picture as stored, not yet upright, in its own colours; its rows can be read once, downwards.
  func decode(_ reduce: (VipsPicture) throws(CodecError) -> VipsPicture) throws(CodecError) -> Raster {
    if cancellation.isSet { throw .cancelled }
    try Codec.start()
    try checkScans()
    // What earlier pictures left in the error buffer without failing would be taken for this one's words.
    vips_error_clear()
    let reader = BodyReader(body, ending: missingEnd, cancellation: cancellation)
    do throws(CodecError) {
      let picture = try open(reader)
      try checkSize(picture.size)
      reader.watch(picture)
      return try Raster(computing: try reduce(salvagesRows ? try salvaged(picture) : picture))
    } catch {
      throw explain(error, reader)
    }
  }

  /// Reads what the plan wants of a JPEG's coefficients: the picture as stored, in its own colours, at the pass's base
  /// size.
  ///
  /// - Throws: `.handedOver` where the file is not what its header let expect and libvips may know better. Damage is an
  ///   error, though libjpeg would pass over some of it: what it puts in the place is grey.
  func readCoefficients(at scale: JPEGScale) throws(CodecError) -> Raster {
    let reader = CoefficientReader(
      body: body, storedSize: plan.probe.storedSize, scale: scale, isTolerant: plan.isTolerant,
      expectsEnd: plan.isBodyWhole && !plan.isTolerant, cancellation: cancellation)
    return try reader.read().raster
  }

  /// Opens all frames of an animated picture, one below the other, lends it, and says what went wrong as `decode` does.
  func withFrames<Result>(_ body: (VipsPicture) throws(CodecError) -> Result) throws(CodecError) -> Result {
    if cancellation.isSet { throw .cancelled }
    try Codec.start()
    vips_error_clear()
    let reader = BodyReader(self.body, cancellation: cancellation)
    let failOn = plan.isTolerant ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR
    do throws(CodecError) {
      let picture = try reader.withSource { source throws(CodecError) in
        try VipsPicture.make(.header) { out in
          plan.probe.format == .gif
            ? cvips_load_gif_frames(source, out, failOn) : cvips_load_webp_frames(source, out, failOn)
        }
      }
      return try body(picture)
    } catch {
      throw explain(error, reader)
    }
  }

  /// What a policy keeps of the picture's metadata. What cannot be read is kept by nobody.
  func metadata(_ policy: MetadataPolicy) -> KeptMetadata? {
    guard policy != .none, !cancellation.isSet, (try? Codec.start()) != nil else { return nil }
    defer { vips_error_clear() }
    guard let picture = try? open(BodyReader(body, cancellation: cancellation)) else { return nil }
    return KeptMetadata(policy, of: picture)
  }

  /// The end marker, for a JPEG that lacks nothing else, as far as can be seen: of a progressive one libjpeg tells before
  /// the first row whether the last scan is whole.
  private var missingEnd: [UInt8] {
    guard plan.probe.format == .jpeg, !plan.isTolerant, !JPEGCompleteness.hasEnd(body) else { return [] }
    let isWhole = plan.probe.isProgressive ? JPEGCompleteness.hasAllScans(body) : hasAllBlocks
    return isWhole ? JPEGCompleteness.endMarker : []
  }

  /// Whether no block of a sequential JPEG is missing: of the last rows libjpeg would tell too late. What only libjpeg can
  /// read is let pass.
  private var hasAllBlocks: Bool {
    let reader = CoefficientReader(
      body: body, storedSize: plan.probe.storedSize, scale: .eighth, cancellation: cancellation)
    do throws(CodecError) {
      _ = try reader.read()
      return true
    } catch {
      if case .handedOver = error { return true }
      return false
    }
  }

  func open(_ reader: BodyReader) throws(CodecError) -> VipsPicture {
    // That a block is missing before an end marker is only a warning of libjpeg's.
    let strict = reader.addsEnding ? VIPS_FAIL_ON_WARNING : VIPS_FAIL_ON_ERROR
    let failOn = plan.isTolerant && !salvagesRows ? VIPS_FAIL_ON_NONE : strict
    let format = plan.probe.format
    if let foreign { return try foreign.open(reader, failOn, isTolerant: plan.isTolerant) }
    guard let loader = Codec.loaderName(format) else { throw .unsupportedFormat(format) }
    guard Codec.hasOperation(loader) else { throw .decoderUnavailable(format) }
    return try reader.withSource { source throws(CodecError) in
      try VipsPicture.make(.header) { out in
        switch format {
        case .jpeg: cvips_load_jpeg(source, out, failOn, jpegFactor)
        case .png: cvips_load_png(source, out, failOn)
        case .webp: cvips_load_webp(source, out, failOn, webpScale)
        case .gif: cvips_load_gif(source, out, failOn)
        case .tiff: cvips_load_tiff(source, out, failOn)
        default: cvips_load_heif(source, out, failOn)
        }
      }
    }
  }

  private var jpegFactor: Int32 {
    if case .shrunkJPEG(let factor) = pass.reader { Int32(factor) } else { 1 }
  }

  private var webpScale: Double {
    guard case .scaledWebP(let size) = pass.reader else { return 1 }
    let stored = plan.probe.storedSize
    return max(Double(size.width) / Double(stored.width), Double(size.height) / Double(stored.height))
  }

  /// The plan's memory and the thumbnails' sizes follow from the header as we read it; a decoder that sees another
  /// picture in the same bytes would break both promises. libwebp's own rounding is let pass.
  private func checkSize(_ size: PixelSize) throws(CodecError) {
    let tolerance = if case .scaledWebP = pass.reader { 1 } else { 0 }
    guard abs(size.width - pass.baseSize.width) <= tolerance, abs(size.height - pass.baseSize.height) <= tolerance
    else {
      throw .damaged(.header, detail: "the header says \(pass.baseSize), the decoder \(size)")
    }
  }

  /// Refuses a progressive JPEG that would hold the decoder for long, and, where a broken-off file would pass, one that
  /// has not a single pixel.
  private func checkScans() throws(CodecError) {
    guard plan.probe.format == .jpeg, plan.probe.isProgressive || plan.isTolerant else { return }
    let found: (scans: Int, firstScanBytes: Int)
    do {
      found = try JPEGScans.count(in: body)
    } catch {
      throw .unreadableBody(detail: "\(error)")
    }
    if found.scans > JPEGScans.most {
      throw .limitExceeded(.scans, value: found.scans, maximum: JPEGScans.most)
    }
    if found.firstScanBytes == 0 { throw .truncated(detail: "after the header") }
    if plan.isTolerant { try checkFirstBlocks() }
  }

  /// Refuses a JPEG without a single whole block, which libjpeg would show all grey. What only libjpeg can read is let pass.
  private func checkFirstBlocks() throws(CodecError) {
    let reader = CoefficientReader(
      body: body, storedSize: plan.probe.storedSize, scale: .eighth, isTolerant: true, cancellation: cancellation)
    do throws(CodecError) {
      _ = try reader.read()
    } catch {
      switch error {
      case .truncated, .cancelled, .unreadableBody: throw error
      default: return
      }
    }
  }

  func explain(_ error: CodecError, _ reader: BodyReader) -> CodecError {
    if cancellation.isSet { return .cancelled }
    guard case .damaged(_, let detail) = error else { return error }
    if reader.failedToRead { return .unreadableBody(detail: detail) }
    return endsEarly(reader) ? .truncated(detail: detail) : error
  }

  /// Whether the body is a GIF without the byte that ends one.
  var lacksTrailer: Bool {
    plan.probe.format == .gif && (try? body.read(at: body.count - 1, length: 1)) != [0x3B]
  }

  /// Whether a failure came of missing bytes. Decoders that stream their file have asked for more than there was; the
  /// others load all of it first, so the file's own structure has to tell.
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
