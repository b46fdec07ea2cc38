import RAWPreviews
import ThumbnailCore

/// Parses RAW files and TIFF files. Most RAW formats differ from TIFF only in the contents of their directories.
///
/// A TIFF goes through `TIFFHeader`. If a camera could have written its first directory, all directories are read; if
/// they describe no sensor's samples, `TIFFHeader` continues.
struct RAWHeader: HeaderParser {
  /// The use of the next bytes.
  private enum Phase {
    case sniffed
    case tiff
    case raw
  }

  private var phase = Phase.sniffed
  private var tiff: TIFFHeader?
  private var reader = RAWReader()
  /// The range that was requested last.
  private var asked = SniffingParser.firstRange
  /// The next step of `TIFFHeader`: a range, the end, or an error.
  private var pending: Result<Range<Int>?, CodecError> = .success(nil)
  private var raw: ImageProbe?

  /// For a file that was sniffed as a TIFF or as RAW.
  init(format: ImageFormat) {
    if format == .tiff { tiff = TIFFHeader() }
  }

  var draft: ImageProbe? { raw ?? (phase == .tiff ? tiff?.draft : nil) }
  var isSettled: Bool { raw != nil || phase == .tiff && tiff?.isSettled == true }

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    let next: Range<Int>?
    switch phase {
    case .sniffed:
      reader.add(bytes.array, of: 0..<bytes.count)
      parseTIFF(bytes)
      phase = tiff == nil || Self.isSigned(bytes) ? .raw : .tiff
      next = phase == .raw ? try walk() : try pending.get()
    case .tiff:
      let wasKnown = tiff?.draft != nil
      if !wasKnown { reader.add(bytes.array, of: asked) }
      parseTIFF(bytes)
      if !wasKnown, tiff?.mayBeRAW == true { phase = .raw }
      next = phase == .raw ? try walk() : try pending.get()
    case .raw:
      reader.add(bytes.array, of: asked)
      next = try walk()
    }
    asked = next ?? asked
    return next
  }

  /// Whether a TIFF's header has a maker's signature: Canon's or Phase One's.
  private static func isSigned(_ bytes: HeaderBytes) -> Bool {
    bytes.has("CR\u{2}", at: 8) || bytes.has("IIII", at: 8) || bytes.has("MMMM", at: 8)
  }

  private mutating func parseTIFF(_ bytes: HeaderBytes) {
    guard var parser = tiff else { return }
    // This leaves the only reference, so that nothing is copied.
    tiff = nil
    pending = Result { () throws(CodecError) in try parser.parse(bytes) }
    tiff = parser
  }

  private mutating func walk() throws(CodecError) -> Range<Int>? {
    switch reader.next() {
    case .read(let range): return range
    // Four letters alone are no proof that a TIFF is Phase One's.
    case .found(let file) where !(file.format == .iiq && file.previews.isEmpty):
      raw = try probe(of: file)
      return nil
    case .found, .notRAW:
      guard tiff != nil else { throw damaged("its header makes no sense") }
      phase = .tiff
      return try pending.get()
    }
  }

  private func probe(of file: RAWFile) throws(CodecError) -> ImageProbe {
    guard let largest = file.previews.last else {
      let isCutOff = reader.known.end.map { end in file.images.contains { $0.range.upperBound > end } } ?? false
      if isCutOff { throw .truncated(detail: "before its previews") }
      throw .noPreview(in: file.format.displayName)
    }
    let shown = largest.shownSize
    var probe = ImageProbe(format: .raw, storedSize: PixelSize(shown.width, shown.height))
    probe.orientation = file.orientation
    probe.frameCount = 1
    probe.hasAlpha = false
    probe.raw = file
    return probe
  }
}
