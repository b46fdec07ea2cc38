import RAWPreviews
package import ThumbnailCore

/// The JPEG that is read in place of a RAW file's image.
package struct RAWPreview: Sendable {
  /// The JPEG's bytes.
  package let bytes: ByteSource
  /// The JPEG's header, with the RAW file's orientation. Its `origin` is the RAW file.
  package let probe: ImageProbe
  /// How it is named in descriptions of plans: `Nikon NEF, preview of 1620x1080`.
  package let description: String

  /// The smallest preview that is large enough for these variants and can be read, or else the largest.
  ///
  /// Blocks while it reads the header. `isComplete` is false for the beginning of a file.
  ///
  /// - Throws: The error of the largest preview if none can be read; `.truncated` if some are missing.
  package init(
    _ variants: [Variant], of whole: ImageProbe, in body: ByteSource, limits: DecodeLimits = DecodeLimits()
  ) throws(CodecError) {
    guard let file = whole.raw else { throw .unsupportedFormat(whole.format) }
    var failure: CodecError?
    for image in Self.candidates(variants, of: whole) {
      do throws(CodecError) {
        let bytes = try Self.bytes(of: image, in: body)
        var found = try ImageCodec.probe(bytes, limits: limits)
        guard found.format == .jpeg else { throw .damaged(.header, detail: "its preview is no JPEG") }
        found.orientation = whole.orientation
        found.visible = image.visible.map { Self.shown($0, of: whole.storedSize) }
        found.origin = ImageProbe.Origin(format: whole.format, size: whole.size)
        (self.bytes, probe) = (bytes, found)
        description = "\(file.format.displayName), preview of \(found.storedSize)"
        return
      } catch {
        failure = error
      }
    }
    throw failure ?? .noPreview(in: file.format.displayName)
  }

  /// The most bytes of padding after a JPEG's end marker.
  private static let mostPadding = 512

  /// Whether it has a JPEG's end. Other bytes that a server has sent in place of the requested part have none.
  package var hasEnd: Bool {
    let tail = try? bytes.read(at: max(0, bytes.count - Self.mostPadding), length: Self.mostPadding)
    return tail?.contains([0xFF, 0xD9]) ?? false
  }

  /// The range of the preview for these variants; nil if there is none.
  package static func neededRanges(for variants: [Variant], of probe: ImageProbe) -> RangeSet<Int>? {
    candidates(variants, of: probe).first.map { RangeSet([$0.range]) }
  }

  /// The previews in the order in which to try them: those that are large enough, the smallest first, then the others.
  private static func candidates(_ variants: [Variant], of probe: ImageProbe) -> [EmbeddedImage] {
    let previews = probe.raw?.previews ?? []
    let shown = previews.filter { $0.shows(probe.storedSize) }
    let upright = Orientation(exif: probe.orientation)
    let covering = shown.filter { image in
      EmbeddedPreview.covers(
        upright.upright(PixelSize(image.shownSize.width, image.shownSize.height)), variants, of: probe)
    }
    let others = shown.reversed().filter { !covering.contains($0) }
    return covering + others + previews.reversed().filter { !shown.contains($0) }
  }

  /// The part of a preview without its borders. Some cameras round it outwards, so that its outermost rows are half
  /// border: rows beyond the image's aspect ratio are cut off, too.
  private static func shown(_ part: VisiblePart, of size: PixelSize) -> PixelRectangle {
    let spare = max(0, part.height - part.width * size.height / size.width)
    let cut = (spare + 1) / 2
    return PixelRectangle(x: part.x, y: part.y + cut, size: PixelSize(part.width, max(1, part.height - 2 * cut)))
  }

  private static func bytes(of image: EmbeddedImage, in body: ByteSource) throws(CodecError) -> ByteSource {
    let part = body.part(image.range)
    guard image.lacksFirstByte else { return part }
    var bytes = try part.bytes(at: 0, length: part.count)
    if !bytes.isEmpty { bytes[0] = 0xFF }
    return .memory(bytes)
  }
}

extension EmbeddedImage {
  /// Whether it shows the whole image, as far as its aspect ratio shows. A preview with undeclared borders does not.
  fileprivate func shows(_ size: PixelSize) -> Bool {
    // Rounding to whole pixels counts with a small thumbnail.
    let (across, down) = (shownSize.width * size.height, shownSize.height * size.width)
    return abs(across - down) <= max(down / 50, size.longerSide)
  }
}
