import CVips
import Foundation
import ThumbnailCore

/// Opens a picture of a format that only a helper decodes, in the size that is needed where the format allows it.
struct ForeignReader {
  let format: ImageFormat
  /// The picture's file, which must be open as long as this is used.
  let file: FileDescriptor
  /// What ImageMagick or a reader of ours reads, in memory.
  private let mapping: Mapping?
  /// What reads a BMP without ImageMagick.
  let bitmap: BitmapReader?
  /// What reads a PFM.
  let floatMap: FloatMapReader?
  /// How a drawing is enlarged or reduced as it is drawn.
  var scale = 1.0
  /// The page of the file: for JPEG 2000, how often the picture is halved.
  var page = 0

  /// Makes ready to open the first `byteCount` bytes of a file.
  init(format: ImageFormat, file: FileDescriptor, byteCount: Int, usesImageMagick: Bool) throws(CodecError) {
    self.format = format
    self.file = file
    let maps = usesImageMagick || format == .bmp || format == .ico || format == .pnm
    let mapped = maps ? try Mapping(file, count: byteCount) : nil
    bitmap = format == .bmp ? mapped.flatMap { BitmapReader($0.bytes) } : nil
    floatMap = format == .pnm ? mapped.flatMap { FloatMapReader($0.bytes) } : nil
    // libvips reads the other netpbm formats from the file.
    mapping = format == .pnm && floatMap == nil && !usesImageMagick ? nil : mapped
    if format == .ico, let mapping { page = Self.largestIcon(mapping.bytes) }
  }

  /// Reads the header; pixels come when they are asked for. With `isTolerant` our own readers fill what is not there with
  /// grey; of the others the caller leaves out the rows that cannot be read.
  func open(
    _ reader: BodyReader, _ failOn: VipsFailOn, isTolerant: Bool = false
  ) throws(CodecError) -> VipsPicture {
    if let bitmap { return try bitmap.picture(isTolerant: isTolerant) }
    if let floatMap { return try floatMap.picture(isTolerant: isTolerant) }
    let known = mapping == nil ? ForeignFormat.loaderName(format) : ForeignFormat.imageMagick
    guard let loader = known else { throw .unsupportedFormat(format) }
    guard Codec.hasOperation(loader) else { throw .decoderUnavailable(format) }
    if let mapping {
      return try VipsPicture.make(.header) { out in
        cvips_load_magick(mapping.bytes.baseAddress, mapping.bytes.count, out, failOn, Int32(page))
      }
    }
    let picture = try reader.withSource { source throws(CodecError) in
      try VipsPicture.make(.header) { out in
        switch format {
        case .svg: cvips_load_svg(source, out, failOn, scale)
        case .pdf: cvips_load_pdf(source, out, failOn, scale)
        case .jpegXL: cvips_load_jxl(source, out, failOn)
        case .jpeg2000: cvips_load_jp2k(source, out, failOn, Int32(page))
        // It reads by name only.
        case .openEXR: cvips_load_openexr("/proc/self/fd/\(file.rawValue)", out, failOn)
        case .radiance: cvips_load_radiance(source, out, failOn)
        default: cvips_load_pnm(source, out, failOn)
        }
      }
    }
    return format == .radiance ? try picture.applying(.header) { cvips_unpack_radiance($0, $1) } : picture
  }

  /// The place of the largest picture in an icon's directory, of equal ones that with the most colours.
  private static func largestIcon(_ bytes: UnsafeRawBufferPointer) -> Int {
    let header = HeaderBytes(Array(bytes.prefix(6 + 16 * 256)))
    let count = min(header.littleEndian(at: 4, count: 2) ?? 0, 256)
    let ranks = (0..<count).map { index -> Int in
      let entry = 6 + 16 * index
      // A side of 256 does not fit into its byte and is written as 0.
      let (width, height) = (header[entry] ?? 0, header[entry + 1] ?? 0)
      let pixels = (width == 0 ? 256 : width) * (height == 0 ? 256 : height)
      return pixels << 16 | (header.littleEndian(at: entry + 6, count: 2) ?? 0)
    }
    return ranks.indices.max { ranks[$0] < ranks[$1] } ?? 0
  }

  /// A file's bytes as memory.
  private final class Mapping {
    let bytes: UnsafeRawBufferPointer

    init(_ file: FileDescriptor, count: Int) throws(CodecError) {
      guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.rawValue, 0), start != MAP_FAILED else {
        throw .unreadableBody(detail: String(cString: strerror(errno)))
      }
      bytes = UnsafeRawBufferPointer(start: start, count: count)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
  }
}
