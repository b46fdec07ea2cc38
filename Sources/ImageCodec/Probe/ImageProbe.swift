import JPEGCoefficients
import RAWPreviews
package import ThumbnailCore

/// The contents of an image's header: enough to refuse it, to plan its decode, and to predict the cost.
package struct ImageProbe: Sendable, Equatable {
  /// The format, as sniffed.
  package var format: ImageFormat
  /// The size in pixels as the decoder delivers it. libheif rotates images itself; `orientation` still has to be
  /// applied to all others.
  var storedSize: PixelSize
  /// The EXIF orientation still to be applied, 1 to 8. 1 is upright.
  var orientation = 1
  /// The number of frames or pages counted so far; nil if the header does not state it.
  var frameCount: Int?
  /// Whether the decoder must hold the whole image before it can output the first row: progressive JPEG and JPEG whose
  /// components come in separate scans, interlaced PNG and GIF.
  var isProgressive = false
  /// Whether the pixels are losslessly compressed. Only set for WebP.
  var isLossless = false
  /// Whether there is an alpha channel; nil if the header does not show it.
  var hasAlpha: Bool?
  /// The channels per pixel, alpha included.
  var channels = 3
  /// The bits per sample.
  var bitsPerSample = 8
  /// The stored samples per pixel: 1.5 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
  var samplesPerPixel = 3.0
  /// The bytes that a decoder must hold to output the first row of a file with large blocks: a strip or a row of tiles
  /// of a TIFF.
  var blockBytes = 0
  /// The light of the samples that the file declares, in words other than an ICC profile.
  var codedLight: CodedLight?
  /// Details of a JPEG's frame header.
  var jpeg: JPEGFrameTraits?
  /// The mean entry of the quantisation table of a JPEG's first component; nil if it is not stated before the scans.
  var meanQuantiser: Double?
  /// The preview in a sequential JPEG's EXIF data or a HEIC's container, if it has the image's aspect ratio and
  /// orientation.
  @Boxed var preview: EmbeddedPreview? = nil
  /// The images that a RAW file embeds. The probe's size is that of the largest preview: no thumbnail is larger.
  @Boxed var raw: RAWFile? = nil
  /// The RAW file whose preview this image is.
  @Boxed var origin: Origin? = nil
  /// The items of a HEIC or AVIF that is read without libheif.
  @Boxed var heif: HEIFTraits? = nil
  /// The part that shows the image, as stored, if black borders surround it.
  @Boxed var visible: PixelRectangle? = nil

  /// A file whose preview is read.
  struct Origin: Sendable, Equatable {
    var format: ImageFormat
    /// The size in pixels, upright.
    var size: PixelSize
  }

  /// Whether it is the header of a RAW file, whose preview is read (`RAWPreview`).
  package var isRAW: Bool { raw != nil }

  /// Whether a second processor makes the decode faster: for a grid of tiles.
  package var canUseTwoProcessors: Bool {
    [heif?.image, heif?.alpha].compactMap { $0 }.contains { $0.suitsTwoDecoders }
  }

  /// The size in pixels, upright.
  package var size: PixelSize { Orientation(exif: orientation).upright(storedSize) }

  /// The header for reading the image by libheif, which turns it.
  var asWhole: ImageProbe {
    guard heif != nil else { return self }
    var probe = self
    (probe.storedSize, probe.orientation, probe.heif, probe.preview) = (size, 1, nil, nil)
    return probe
  }
}

/// The limits beyond which an image is refused by its header.
package struct DecodeLimits: Sendable, Equatable {
  /// The most pixels, 268,435,456 by default: 16384×16384, beyond every camera and most scans.
  package var maximumPixels: Int
  /// The longest side in pixels, 65,535 by default: JPEG's own limit. It bounds the length of one row in memory.
  package var maximumSide: Int
  /// The most frames or pages, 10,000 by default. Only the first is shown, but decoders keep a table entry for each, so
  /// a file of tiny frames takes many times its own length in memory.
  package var maximumFrames: Int
  /// The longest file in bytes, 256 MiB by default.
  package var maximumBytes: Int

  package init(
    maximumPixels: Int = 1 << 28, maximumSide: Int = 65_535, maximumFrames: Int = 10_000, maximumBytes: Int = 256 << 20
  ) {
    self.maximumPixels = maximumPixels
    self.maximumSide = maximumSide
    self.maximumFrames = maximumFrames
    self.maximumBytes = maximumBytes
  }

  /// Refuses an empty file, and one that is too long.
  func check(byteCount: Int) throws(CodecError) {
    if byteCount == 0 { throw .empty }
    if byteCount > maximumBytes { throw .limitExceeded(.bytes, value: byteCount, maximum: maximumBytes) }
  }

  /// Refuses an image whose header exceeds a limit. Called as soon as any part of it is known.
  func check(_ probe: ImageProbe) throws(CodecError) {
    let size = probe.size
    guard size.width > 0, size.height > 0 else { throw .damaged(.header, detail: "its size is \(size)") }
    if size.longerSide > maximumSide {
      throw .limitExceeded(.side(size), value: size.longerSide, maximum: maximumSide)
    }
    if size.pixelCount > maximumPixels {
      throw .limitExceeded(.pixels(size), value: size.pixelCount, maximum: maximumPixels)
    }
    if let frames = probe.frameCount, frames > maximumFrames {
      throw .limitExceeded(.frames, value: frames, maximum: maximumFrames)
    }
  }
}

/// Parses the header of a complete body, in any part of the file.
///
/// Blocks while it reads a file: a few reads of 64 KiB, more only if frames have to be counted.
package func probe(_ body: ByteSource, limits: DecodeLimits = DecodeLimits()) throws(CodecError) -> ImageProbe {
  try limits.check(byteCount: body.count)
  var parser = SniffingParser()
  var window = BodyWindow(body)
  var wanted: Range<Int>? = SniffingParser.firstRange
  while let range = wanted {
    wanted = try parser.parse(try window.read(range))
    if let draft = parser.draft { try limits.check(draft) }
  }
  guard let probe = parser.draft else { throw .damaged(.header, detail: "no picture in it") }
  return probe
}

/// Serves small ranges of a body from one larger read.
private struct BodyWindow {
  private static let length = 65_536

  private let body: ByteSource
  private var start = 0
  private var bytes = HeaderBytes()

  init(_ body: ByteSource) { self.body = body }

  mutating func read(_ range: Range<Int>) throws(CodecError) -> HeaderBytes {
    let available = range.clamped(to: 0..<body.count)
    if available.lowerBound < start || available.upperBound > start + bytes.count {
      start = available.lowerBound
      bytes = HeaderBytes(try body.bytes(at: start, length: max(available.count, Self.length)))
    }
    return bytes.slice(available.lowerBound - start..<available.upperBound - start)
  }
}
