import CVips
import Glibc
import ThumbnailCore

/// Opens an image of a format that only a helper decodes, at a reduced size where the format allows it.
struct HelperOnlyReader {
  let format: ImageFormat
  /// The image file, which must stay open while the reader is used.
  let file: FileDescriptor
  /// The file in memory, for ImageMagick and our own readers.
  private let mapping: Mapping?
  /// Reads an uncompressed BMP without ImageMagick.
  let bitmap: BitmapReader?
  /// Reads a PFM.
  let floatMap: FloatMapReader?
  /// Reads a JPEG 2000.
  let jpeg2000: JPEG2000File?
  /// The scale at which a drawing is rendered.
  var scale = 1.0
  /// The page of the file; of a JPEG 2000, how often the image is halved.
  var page = 0

  init(format: ImageFormat, body: ByteSource, file: FileDescriptor) throws(CodecError) {
    self.format = format
    self.file = file
    jpeg2000 = format == .jpeg2000 ? try JPEG2000File(body) : nil
    let maps = format == .bmp || format == .ico || format == .pnm
    let mapped = maps ? try Mapping(file, count: body.count) : nil
    bitmap = format == .bmp ? mapped.flatMap { BitmapReader($0.bytes) } : nil
    floatMap = format == .pnm ? mapped.flatMap { FloatMapReader($0.bytes) } : nil
    // libvips reads the other netpbm formats from the file.
    mapping = format == .pnm && floatMap == nil ? nil : mapped
    if format == .ico, let mapping { page = Self.largestIcon(mapping.bytes) }
  }

  /// Reads the header; pixels are decoded lazily. With `isTolerant` our own readers fill missing rows with grey; for
  /// the other readers the caller drops unreadable rows.
  func open(
    _ reader: BodyReader, _ failOn: VipsFailOn, isTolerant: Bool = false
  ) throws(CodecError) -> LibvipsImage {
    if let bitmap { return try bitmap.image(isTolerant: isTolerant) }
    if let floatMap { return try floatMap.image(isTolerant: isTolerant) }
    if let mapping {
      guard Codec.hasOperation(ImageFormat.imageMagickLoader) else { throw .decoderUnavailable(format) }
      return try LibvipsImage.make(.header) { out in
        cvips_load_magick(mapping.bytes.baseAddress, mapping.bytes.count, out, failOn, Int32(page))
      }
    }
    switch format {
    case .svg, .pdf: return try reader.load(format, failOn, option: .scale(scale))
    case .openEXR:
      guard Codec.hasOperation(format.loaderName) else { throw .decoderUnavailable(format) }
      // This loader takes only a file name.
      return try LibvipsImage.make(.header) { cvips_load_openexr("/proc/self/fd/\(file.rawValue)", $0, failOn) }
    case .radiance:
      return try reader.load(format, failOn).applying(.header) { cvips_apply("rad2float", $0, $1) }
    case .jpegXL, .pnm: return try reader.load(format, failOn)
    // A bitmap or an icon is always mapped; the other formats are read in process.
    default: throw .unsupportedFormat(format)
    }
  }

  /// The index of the largest image in an icon's directory; of equal ones, that with the most colours.
  private static func largestIcon(_ bytes: UnsafeRawBufferPointer) -> Int {
    let header = HeaderBytes(Array(bytes.prefix(6 + 16 * 256)))
    let count = min(header.littleEndian(at: 4, count: 2) ?? 0, 256)
    let ranks = (0..<count).map { index -> Int in
      let entry = 6 + 16 * index
      // A side of 256 does not fit into the byte and is stored as 0.
      let (width, height) = (header[entry] ?? 0, header[entry + 1] ?? 0)
      let pixels = (width == 0 ? 256 : width) * (height == 0 ? 256 : height)
      return pixels << 16 | (header.littleEndian(at: entry + 6, count: 2) ?? 0)
    }
    return ranks.indices.max { ranks[$0] < ranks[$1] } ?? 0
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
