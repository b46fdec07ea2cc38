import CVips
import JPEGCoefficients
import ThumbnailCore

/// Opens a body with the plan's reader, and maps libvips' errors to `CodecError`.
struct ImageDecoder {
  var body: ByteSource
  var plan: DecodePlan
  var pass: DecodePlan.Pass
  let cancellation: CancellationFlag
  /// Whether a second thread may decode tiles.
  var usesTwoThreads = false
  /// Opens the formats that are read only in a helper; nil for formats read in process.
  var helperOnly: HelperOnlyReader?
  /// The row index of a JPEG, if only a part of it is read.
  var index: SharedIndex?

  /// Opens the image by the plan and returns its rows: as stored, not yet upright, in their own colours, or in sRGB if
  /// these are coded in other light.
  ///
  /// - Throws: `.handedOver` by the coefficient decoder; errors of the header.
  func rows() throws(CodecError) -> any RowSource {
    let source = try storedRows(asRGB: false)
    let layout = source.layout
    guard layout.colour != .cmyk,
      let range = CodedLight.counting(layout.codedLight ?? plan.probe.codedLight, profile: layout.profile)
    else { return source }
    return ToneMappedRows(layout.colour == .ycc ? try storedRows(asRGB: true) : source, range)
  }

  /// - Parameter asRGB: Whether luma and chroma become RGB.
  private func storedRows(asRGB: Bool) throws(CodecError) -> any RowSource {
    if cancellation.isSet { throw .cancelled }
    if case .coefficients(let scale) = pass.reader {
      var decoder = coefficients(
        at: scale, isTolerant: plan.isTolerant, expectsEnd: plan.isBodyWhole && !plan.isTolerant)
      decoder.halvesChroma = pass.halvesChroma
      let isWhole = scale == .full && convertsColours
      if pass.readsByRows(plan.probe), !plan.isTolerant, !asRGB, !isWhole { return try JPEGStripSource(decoder) }
      if scale == .full { return try jpegRows(reduction: 1, convertsColours: asRGB || convertsColours) }
      return try CoefficientRowSource(decoder, convertsColours: asRGB)
    }
    do throws(CodecError) {
      if let rows = try formatRows(asRGB) { return rows }
    } catch {
      // Another plan is needed if libheif would turn the image.
      guard case .handedOver = error, plan.probe.heif == nil else {
        throw cancellation.isSet ? .cancelled : error
      }
    }
    return try libvipsRows()
  }

  /// The rows by the reader of the format; nil if there is none.
  ///
  /// - Throws: `.handedOver` for files that only libvips reads.
  private func formatRows(_ asRGB: Bool) throws(CodecError) -> (any RowSource)? {
    if let helperOnly { return try helperOnly.rows() }
    let probe = plan.probe
    // libvips reads more of a damaged image: rows before the damage in the same chunk, and rows after it.
    if plan.isTolerant, probe.format != .jpeg, probe.format != .tiff { return nil }
    switch (probe.format, pass.reader) {
    case (.jpeg, .jpeg(let reduction)):
      try checkScans()
      return try jpegRows(reduction: reduction, convertsColours: asRGB || convertsColours)
    case (.png, .whole): return try PNGRowSource(body, probe: probe)
    case (.gif, .whole): return try GIFRowSource(body, probe: probe)
    case (.tiff, .whole): return try TIFFRowSource(body, probe: probe, isTolerant: plan.isTolerant)
    case (.webp, .whole), (.webp, .scaledWebP):
      return try WebPRowSource(body, probe: probe, size: pass.baseSize, convertsColours: pass.readsRGB(probe) || asRGB)
    case (.heif, .whole), (.avif, .whole):
      guard let traits = probe.heif else { return nil }
      return try HEIFRowSource(
        body, traits, skipsFilters: pass.hidesBlockEdges, convertsColours: asRGB, onTwoThreads: usesTwoThreads)
    default: return nil
    }
  }

  /// Whether the image can be read as RGB instead: a JPEG of halved chroma, unless that takes more memory than planned
  /// or more bytes than were downloaded.
  var canConvertRows: Bool {
    let probe = plan.probe
    return probe.format == .jpeg && helperOnly == nil && probe.samplesPerPixel < 3 && !probe.isProgressive
      && plan.isBodyWhole
  }

  /// Whether libjpeg makes RGB of a JPEG: of one or two samples of chroma a row it interpolates nothing, as other
  /// programs.
  private var convertsColours: Bool {
    plan.probe.storedSize.width <= 4 && plan.probe.samplesPerPixel < 3
  }

  /// The rows of a JPEG as RGB by libjpeg, at the plan's scale.
  func convertedRows() throws(CodecError) -> any RowSource {
    let reduction =
      switch pass.reader {
      case .coefficients(let scale): scale.rawValue
      case .jpeg(let reduction): reduction
      default: 1
      }
    return try jpegRows(reduction: reduction, convertsColours: true)
  }

  private func jpegRows(reduction: Int, convertsColours: Bool = false) throws(CodecError) -> JPEGRowSource {
    try checkCodes()
    return try JPEGRowSource(
      BodyReader(body, ending: missingEnd, cancellation: cancellation), size: plan.probe.storedSize,
      profile: JPEGProfile.read(body), reduction: reduction, isTolerant: plan.isTolerant,
      convertsColours: convertsColours)
  }

  private func libvipsRows() throws(CodecError) -> any RowSource {
    let (image, reader) = try opened()
    try checkSize(image.size)
    return try LibvipsRowSource(image) {
      explain($0, reader)
    } check: { () throws(CodecError) in
      try reader.checkReads()
    }
  }

  /// Opens the image, or all frames of an animated one stacked vertically, and passes it to `body`.
  func withImage<Result>(_ body: (LibvipsImage) throws(CodecError) -> Result) throws(CodecError) -> Result {
    if cancellation.isSet { throw .cancelled }
    let (image, reader) = try opened()
    do throws(CodecError) {
      let result = try body(image)
      try reader.checkReads()
      return result
    } catch {
      throw explain(error, reader)
    }
  }

  private func opened() throws(CodecError) -> (LibvipsImage, BodyReader) {
    try Codec.start()
    try checkScans()
    // Otherwise the error buffer would contain text of earlier images.
    vips_error_clear()
    let reader = BodyReader(self.body, ending: missingEnd, cancellation: cancellation)
    do throws(CodecError) {
      return (try open(reader), reader)
    } catch {
      throw explain(error, reader)
    }
  }

  /// The image's metadata that a policy keeps; nil if it cannot be read. None for formats that only a helper reads.
  func metadata(_ policy: MetadataPolicy) -> KeptMetadata? {
    guard policy != .none, helperOnly == nil, !cancellation.isSet else { return nil }
    guard (try? Codec.start()) != nil else { return nil }
    defer { vips_error_clear() }
    guard let image = try? open(BodyReader(body, cancellation: cancellation)) else { return nil }
    // The profile of a high dynamic range does not describe the thumbnail, which is mapped to sRGB.
    let range = CodedLight.counting(plan.probe.codedLight, profile: image.profile)
    return policy == .profile && range != nil ? nil : KeptMetadata(policy, of: image)
  }

  private func open(_ reader: BodyReader) throws(CodecError) -> LibvipsImage {
    // A block missing before an end marker is only a warning in libjpeg.
    let strict = reader.addsEnding ? VIPS_FAIL_ON_WARNING : VIPS_FAIL_ON_ERROR
    let failOn = plan.isTolerant && !dropsRows ? VIPS_FAIL_ON_NONE : strict
    if let helperOnly { return try helperOnly.open(reader, failOn, isTolerant: plan.isTolerant) }
    let format = plan.probe.format
    guard format.isReadInProcess else { throw .unsupportedFormat(format) }
    return try reader.load(format, failOn, option: loaderOption)
  }

  private var loaderOption: BodyReader.LoaderOption? {
    switch pass.reader {
    case .whole, .coefficients: return nil
    case .jpeg(let reduction): return reduction == 1 ? nil : .shrink(reduction)
    case .scaledWebP(let size):
      let stored = plan.probe.storedSize
      return .scale(max(Double(size.width) / Double(stored.width), Double(size.height) / Double(stored.height)))
    case .frames: return .allFrames
    }
  }

  /// Whether libvips reads only the rows before the damage. libjpeg and libvips' GIF decoder continue after damage by
  /// themselves; other decoders would leave uninitialised memory in the rows. Animations lose whole frames instead.
  private var dropsRows: Bool {
    plan.isTolerant && pass.reader != .frames && ![.jpeg, .gif].contains(plan.probe.format)
  }

  /// The predicted memory and the thumbnails' sizes come from our own header parser, and a decoder with a different
  /// size would invalidate both. It tolerates libwebp's rounding, and the partial blocks of a JPEG that libvips drops.
  private func checkSize(_ size: PixelSize) throws(CodecError) {
    let tolerance =
      switch pass.reader {
      case .scaledWebP, .jpeg: 1
      default: 0
      }
    guard abs(size.width - pass.baseSize.width) <= tolerance, abs(size.height - pass.baseSize.height) <= tolerance
    else {
      throw .damaged(.header, detail: "the header says \(pass.baseSize), the decoder \(size)")
    }
  }

  // MARK: JPEG

  /// The end marker, for a JPEG that lacks it, unless a scan is missing: libjpeg warns of missing blocks before it.
  private var missingEnd: [UInt8] {
    guard plan.probe.format == .jpeg, !plan.isTolerant, !JPEGStructure.hasEnd(body) else { return [] }
    return plan.probe.isProgressive && !JPEGStructure.hasAllScans(body) ? [] : JPEGStructure.endMarker
  }

  /// Refuses a progressive JPEG with too many scans, which would block the decoder for long, and, if truncated files
  /// are accepted, one without a single pixel.
  private func checkScans() throws(CodecError) {
    guard plan.probe.format == .jpeg, plan.probe.isProgressive || plan.isTolerant else { return }
    let found = try JPEGStructure(of: body)
    if found.scanCount > JPEGStructure.mostScans {
      throw .limitExceeded(.scans, value: found.scanCount, maximum: JPEGStructure.mostScans)
    }
    if found.firstScanBytes == 0 { throw .truncated(detail: "after the header") }
    if plan.isTolerant { try checkFirstBlocks() }
  }

  /// Refuses a sequential JPEG whose codes are damaged, as the reader of small sizes does: libjpeg passes over some.
  private func checkCodes() throws(CodecError) {
    guard !plan.isTolerant, !plan.probe.isProgressive, plan.isBodyWhole, pass.window == nil else { return }
    do throws(CodecError) {
      _ = try Raster(coefficients(at: .eighth))
    } catch {
      if case .damaged = error { throw error }
    }
  }

  /// Refuses a JPEG without a single complete block, which libjpeg would decode to grey. Accepts files that only
  /// libjpeg can read.
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

  /// Whether a failure was caused by missing bytes. A decoder that streams its file has read past its end; the others
  /// load the whole file first, so this checks the file's structure.
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
