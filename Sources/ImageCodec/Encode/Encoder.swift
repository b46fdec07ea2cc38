import CVips
package import FoundationEssentials
package import ThumbnailCore

/// Encodes finished pixels to an image file in memory.
package enum Encoder {
  /// WebP's encoding effort, 0 to 6; libvips' default is 4.
  private static let webpEffort = 4
  /// AVIF's encoding effort, 0 to 9.
  private static let avifEffort = 3
  /// JPEG XL's encoding effort, 3 to 9. The default, 7, takes five times as long.
  private static let jxlEffort = 4
  /// GIF's encoding effort, 1 to 10; libvips' default is 7.
  private static let gifEffort = 7
  /// PNG's compression level, 0 to 9; libvips' default is 6.
  private static let pngEffort = 6

  /// Encodes pixels in standard colours. `source` is the format of the source image, `kept` the metadata to embed, and
  /// `timing` belongs to an image of stacked frames.
  ///
  /// - Throws: `.encoderUnavailable`, `.outOfMemory` or `.damaged(.encode, …)`.
  package static func encode(
    _ raster: Raster, for variant: Variant, source: ImageFormat, kept: KeptMetadata? = nil,
    timing: AnimationTiming? = nil
  ) throws(CodecError) -> (data: Data, format: ImageFormat) {
    let isOpaque = raster.isOpaque
    let isTransparent = !isOpaque && variant.background == nil
    let format =
      timing == nil
      ? written(as: variant.format, source: source, isTransparent: isTransparent)
      : variant.format == .same ? source : .webp
    var final = raster
    if isOpaque {
      final = try raster.withoutAlpha()
    } else if !isTransparent || format == .jpeg {
      final = try raster.flattened(onto: variant.background ?? .white)
    }
    if format == .jpeg, timing == nil {
      let encoder = JPEGEncoder(
        quality: variant.quality, effort: variant.effort, profile: kept?.profile(fitting: final.bands))
      return (try encoder.encode(final), format)
    }
    final = try final.rgb()
    if timing == nil, kept == nil {
      if format == .png, variant.effort == nil, let file = try PNGEncoder.encode(final) { return (file, format) }
      if format == .webp {
        let method = effort(variant, webpEffort, 0...6)
        return (try WebPEncoder(quality: variant.quality, method: method).encode(final), format)
      }
    }
    guard Codec.hasSaver(format) else { throw .encoderUnavailable(format) }
    // The image points into the raster's memory, which nothing else keeps alive.
    defer { withExtendedLifetime(final) {} }
    // libvips would embed it although metadata is stripped.
    var image = try final.image(withProfile: false)
    if let kept { image = try kept.attached(to: image) }
    if let timing { image = try timing.attached(to: image) }
    return (try save(image, as: format, variant: variant, keeps: kept != nil), format)
  }

  /// The format in which a thumbnail is written.
  static func written(as format: OutputFormat, source: ImageFormat, isTransparent: Bool) -> ImageFormat {
    if let stated = format.imageFormat { return stated }
    if format == .same, Codec.canWrite(source) { return source }
    return isTransparent ? .webp : .jpeg
  }

  /// The requested effort, 0 to 9, on an encoder's own scale; `standard` if none was requested.
  private static func effort(_ variant: Variant, _ standard: Int, _ range: ClosedRange<Int>) -> Int {
    variant.effort.map { range.lowerBound + ($0 * (range.upperBound - range.lowerBound) + 4) / 9 } ?? standard
  }

  /// Encodes an image unchanged. One with a page height becomes animated if the format can be.
  package static func save(
    _ image: LibvipsImage, as format: ImageFormat, variant: Variant, keeps: Bool
  ) throws(CodecError) -> Data {
    var bytes: UnsafeMutableRawPointer?
    var length = 0
    let image = image.pointer
    let quality = Int32(min(max(variant.quality, 1), 100))
    // Without `kept`, metadata that decoders left in the image is stripped.
    let strips: Int32 = keeps ? 0 : 1
    func effort(_ standard: Int, _ range: ClosedRange<Int>) -> Int32 { Int32(Self.effort(variant, standard, range)) }
    let result =
      switch format {
      case .png: cvips_save_png(image, &bytes, &length, effort(pngEffort, 0...9), strips)
      case .webp: cvips_save_webp(image, &bytes, &length, quality, effort(webpEffort, 0...6), strips)
      case .avif: cvips_save_avif(image, &bytes, &length, quality, effort(avifEffort, 0...9), strips)
      case .jpegXL: cvips_save_jxl(image, &bytes, &length, quality, effort(jxlEffort, 3...9), strips)
      case .gif: cvips_save_gif(image, &bytes, &length, effort(gifEffort, 1...10), strips)
      case .tiff: cvips_save_tiff(image, &bytes, &length, strips)
      default: cvips_save_jpeg(image, &bytes, &length, quality, JPEGEncoder.optimises(variant.effort) ? 1 : 0, strips)
      }
    defer { g_free(bytes) }
    guard result == 0, let bytes else { throw .damaged(.encode, detail: Codec.errorText()) }
    // A copy of the exact length: libvips' own buffer may be twice as long, and the cache counts the bytes that it
    // holds.
    return Data(bytes: bytes, count: length)
  }
}
