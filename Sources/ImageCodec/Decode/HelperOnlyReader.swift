import CVips
import Glibc
import ThumbnailCore

/// Opens an image of a format that only a helper decodes, at a reduced size if the format allows it.
struct HelperOnlyReader {
  /// Headers have some hundred bytes; previews and comments make them longer, behind the fields that are needed.
  private static let longestOpenEXRHeader = 65_536

  let format: ImageFormat
  /// The image file, which must stay open while the reader is used.
  let file: FileDescriptor
  let body: ByteSource
  /// The file in memory, for bitmaps, ImageMagick, libjxl, and to look into a PDF.
  private let mapping: Mapping?
  /// Reads an uncompressed BMP, or that in an icon, without ImageMagick.
  let bitmap: BitmapReader?
  private let jpeg2000: JPEG2000Header?
  /// The PNG in an icon.
  private let png: ByteSource?
  /// The scale at which a drawing is rendered.
  var scale = 1.0
  /// The number of halvings of a JPEG 2000.
  var page = 0

  init(format: ImageFormat, body: ByteSource, file: FileDescriptor) throws(CodecError) {
    try Codec.start()
    let drawing = format == .svg ? DrawingSize.added(to: (try? body.read(at: 0, length: body.count)) ?? []) : nil
    (self.format, self.body, self.file) = (format, drawing.map { .memory($0) } ?? body, file)
    jpeg2000 = format == .jpeg2000 ? try JPEG2000Header(body) : nil
    let icon = format == .ico ? Self.largestIcon(HeaderBytes((try? body.read(at: 0, length: 6 + 16 * 256)) ?? [])) : nil
    png = icon.map { body.part($0) }.flatMap { Self.isPNG($0) ? $0 : nil }
    mapping = [.bmp, .ico, .pdf, .jpegXL].contains(format) ? try Mapping(file, count: body.count) : nil
    guard let mapping, format == .bmp || format == .ico, png == nil else {
      bitmap = nil
      return
    }
    // The lengths in an icon's directory are often wrong.
    let rest = UnsafeRawBufferPointer(rebasing: mapping.bytes[min(icon?.lowerBound ?? 0, body.count)...])
    bitmap = try BitmapReader(rest, isIcon: format == .ico)
    if format == .ico, bitmap == nil { throw .damaged(.header, detail: "the icon has no picture") }
  }

  /// Whether it is a PDF that is encrypted. libvips reads those that need no password.
  var isEncrypted: Bool {
    guard format == .pdf, let bytes = mapping?.bytes else { return false }
    return bytes.contains("/Encrypt".utf8)
  }

  private static func isPNG(_ body: ByteSource) -> Bool {
    (try? body.read(at: 0, length: 4)) == [0x89, 0x50, 0x4E, 0x47]
  }

  /// The header of a PNG in an icon; nil if libvips reads the file.
  func probe() throws(CodecError) -> ImageProbe? {
    guard let png else { return nil }
    var found = try ImageCodec.probe(png)
    found.format = .ico
    return found
  }

  /// The rows of that PNG, or of the first frame of a JPEG XL.
  func rows() throws(CodecError) -> (any RowSource)? {
    if let mapping, format == .jpegXL {
      let image = try open(BodyReader(body, cancellation: CancellationFlag()), VIPS_FAIL_ON_ERROR)
      return try JPEGXLAnimation.firstFrame(mapping.bytes, like: image).map { frame throws(CodecError) in
        try LibvipsRowSource(frame)
      }
    }
    return try png.map { png throws(CodecError) in try PNGRowSource(png, probe: ImageCodec.probe(png)) }
  }

  /// Reads the header; pixels are decoded lazily. With `isTolerant` our own readers fill missing rows with grey; for
  /// the other readers the caller drops unreadable rows.
  func open(
    _ reader: BodyReader, _ failOn: VipsFailOn, isTolerant: Bool = false
  ) throws(CodecError) -> LibvipsImage {
    if let bitmap { return try bitmap.image(isTolerant: isTolerant) }
    if let mapping, format == .bmp {
      guard Codec.hasOperation(ImageFormat.imageMagickLoader) else { throw .decoderUnavailable(format) }
      return try LibvipsImage.make(.header) { out in
        cvips_load_magick(mapping.bytes.baseAddress, mapping.bytes.count, out, failOn)
      }
    }
    switch format {
    case .svg, .pdf: return try reader.load(format, failOn, option: .scale(scale))
    case .openEXR:
      guard Codec.hasOperation(format.loaderName) else { throw .decoderUnavailable(format) }
      let header = HeaderBytes((try? body.read(at: 0, length: Self.longestOpenEXRHeader)) ?? [])
      if let flags = header[5], flags & 8 != 0 { throw .unsupported("an OpenEXR of deep samples") }
      // This loader accepts only a file name.
      let stored = try LibvipsImage.make(.header) { cvips_load_openexr("/proc/self/fd/\(file.rawValue)", $0, failOn) }
      // The file's colours are multiplied by alpha.
      let image = stored.hasAlpha ? try stored.applying(.header) { cvips_apply("unpremultiply", $0, $1) } : stored
      return try OpenEXRWindows(header)?.picture(image) ?? image
    case .radiance:
      return try reader.load(format, failOn).applying(.header) { cvips_apply("rad2float", $0, $1) }
    case .jpegXL: return try reader.load(format, failOn)
    case .jpeg2000: return try reader.load(format, failOn, option: .page(page))
    case .pnm: return try portableMap(reader, failOn)
    // A bitmap or an icon is always mapped.
    default: throw .unsupportedFormat(format)
    }
  }

  /// A portable map of bytes, of the usual white: of bits and of text libvips does not tell what is missing, others it
  /// shows dark or upside down.
  private func portableMap(_ reader: BodyReader, _ failOn: VipsFailOn) throws(CodecError) -> LibvipsImage {
    let kind = String(decoding: try body.bytes(at: 0, length: 2), as: UTF8.self)
    guard kind == "P5" || kind == "P6" else { throw .unsupported("a portable map of the kind \(kind)") }
    let image = try reader.load(format, failOn)
    var white: Int32 = 0
    guard vips_image_get_int(image.pointer, "ppm-max-value", &white) == 0, white == 255 || white == 65_535 else {
      throw .unsupported("a portable map whose white is \(white)")
    }
    return image
  }

  /// The resolution levels of a JPEG 2000 that can be read, and the bytes of the tiles of a row at the current one.
  func levels(of image: LibvipsImage) -> (count: Int, blockBytes: Int)? {
    jpeg2000.map { header in
      (min(Int(vips_image_get_n_pages(image.pointer)), 1 + header.mostHalvings), header.blockBytes(halvings: page))
    }
  }

  /// The range of the largest image in an icon's directory, or of the one with the most colours of equally large ones.
  private static func largestIcon(_ header: HeaderBytes) -> Range<Int>? {
    let count = min(header.littleEndian(at: 4, count: 2) ?? 0, 256)
    let images = (0..<count).map { index -> (rank: Int, range: Range<Int>) in
      let entry = 6 + 16 * index
      // A side of 256 does not fit into the byte and is stored as 0.
      let (width, height) = (header[entry] ?? 0, header[entry + 1] ?? 0)
      let pixels = (width == 0 ? 256 : width) * (height == 0 ? 256 : height)
      let start = header.littleEndian(at: entry + 12, count: 4) ?? 0
      // A pointer has a place in the image instead of its colours.
      let bits = header[2] == 2 ? 0 : header.littleEndian(at: entry + 6, count: 2) ?? 0
      return (pixels << 16 | bits, start..<start + (header.littleEndian(at: entry + 8, count: 4) ?? 0))
    }
    return images.max { $0.rank < $1.rank }?.range
  }

  /// A memory-mapped file.
  private final class Mapping {
    let bytes: UnsafeRawBufferPointer

    init(_ file: FileDescriptor, count: Int) throws(CodecError) {
      guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.rawValue, 0), start != MAP_FAILED else {
        throw .unreadableBody(detail: SystemFailure.last.reason)
      }
      bytes = UnsafeRawBufferPointer(start: start, count: count)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
  }
}
