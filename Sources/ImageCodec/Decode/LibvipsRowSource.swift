import CVips
import ThumbnailCore

/// Decodes images with libvips, for the formats that no other source reads: strip by strip on the calling thread,
/// without libvips' thread pool.
final class LibvipsRowSource: RowSource {
  /// The number of rows computed at a time: the height of the strips of libvips' own decoders.
  private static let rowsAtOnce = 16

  let layout: RowLayout
  private let image: LibvipsImage
  private let region: UnsafeMutablePointer<VipsRegion>
  private let explain: (CodecError) -> CodecError
  private let check: () throws(CodecError) -> Void
  private var nextRow = 0

  /// A source of an image whose rows can be read once, from top to bottom. Samples that are not of 8 or 16 bits in a
  /// common colour space are converted. `explain` translates an error of libvips, and
  /// `check` is called after rows were passed on.
  init(
    _ original: LibvipsImage, explain: @escaping (CodecError) -> CodecError = { $0 },
    check: @escaping () throws(CodecError) -> Void = {}
  ) throws(CodecError) {
    (self.explain, self.check) = (explain, check)
    image = try Self.readable(original)
    var rows = RowLayout(
      size: image.size, channels: image.bands, sample: image.format == VIPS_FORMAT_USHORT ? .uint16 : .uint8,
      profile: image.profile)
    rows.hasAlpha = image.hasAlpha
    if image.interpretation == VIPS_INTERPRETATION_CMYK { rows.colour = .cmyk }
    layout = rows
    guard let region = vips_region_new(image.pointer) else { throw .damaged(.decode, detail: Codec.errorText()) }
    self.region = region
  }

  deinit { g_object_unref(region) }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    let size = image.size
    guard nextRow < size.height else { return false }
    let count = min(Self.rowsAtOnce, size.height - nextRow)
    var part = VipsRect(left: 0, top: Int32(nextRow), width: Int32(size.width), height: Int32(count))
    guard vips_region_prepare(region, &part) == 0 else {
      throw explain(.damaged(.decode, detail: Codec.errorText()))
    }
    guard let start = cvips_region_row(region, Int32(nextRow)) else { return false }
    nextRow += count
    try receive(RowBand(start: start, stride: cvips_region_stride(region), count: count))
    try check()
    return true
  }

  /// The image itself if its samples can be resampled as they are, else in sRGB or gray.
  ///
  /// Floating-point samples are linear light and may be many times as bright as white. They are clipped to white before
  /// downsampling, or a lamp would outshine its surroundings, and become display values like all other formats.
  private static func readable(_ image: LibvipsImage) throws(CodecError) -> LibvipsImage {
    let colours = image.bands - (image.hasAlpha ? 1 : 0)
    let expected: (colours: Int, format: VipsBandFormat)? =
      switch image.interpretation {
      case VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_RGB: (3, VIPS_FORMAT_UCHAR)
      case VIPS_INTERPRETATION_B_W: (1, VIPS_FORMAT_UCHAR)
      case VIPS_INTERPRETATION_RGB16: (3, VIPS_FORMAT_USHORT)
      case VIPS_INTERPRETATION_GREY16: (1, VIPS_FORMAT_USHORT)
      case VIPS_INTERPRETATION_CMYK: (4, VIPS_FORMAT_UCHAR)
      default: nil
      }
    if let expected, expected.colours == colours, expected.format == image.format, image.bands <= 4 { return image }
    let shown = try image.standardColours().copied()
    // The profile described the samples before the conversion.
    vips_image_remove(shown.pointer, VIPS_META_ICC_NAME)
    return shown
  }
}
