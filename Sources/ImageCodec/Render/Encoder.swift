import CVips
package import Foundation
package import ThumbnailCore

/// Writes finished pixels as a file in memory.
package enum Encoder {
  /// How hard WebP's encoder tries, 0 to 6. 4 is its own default.
  private static let webpEffort = 4
  /// How hard AVIF's encoder tries, 0 to 9.
  private static let avifEffort = 3
  /// How hard JPEG XL's encoder tries, 3 to 9. 7 is its own default, which takes five times as long.
  private static let jxlEffort = 4
  /// How hard GIF's encoder tries, 1 to 10. 7 is its own default.
  private static let gifEffort = 7
  /// How hard PNG's compression tries, 0 to 9. 6 is its own default.
  private static let pngEffort = 6

  /// Encodes a picture of 1 to 4 bands of 8 bits, as `standardColours()` gives it. `isOpaque` tells whether its alpha,
  /// if any, can be dropped, `source` what it was made of, and `kept` what of that one's metadata goes with it.
  ///
  /// - Throws: `.encoderUnavailable` or `.damaged(.encode, …)`.
  static func encode(
    _ picture: VipsPicture, isOpaque: Bool, for variant: Variant, source: ImageFormat, kept: KeptMetadata? = nil
  ) throws(CodecError) -> (data: Data, format: ImageFormat) {
    let isTransparent = !isOpaque && variant.background == nil
    let format = written(as: variant.format, source: source, isTransparent: isTransparent)
    guard Codec.canWrite(format) else { throw .encoderUnavailable(format) }
    let keepsAlpha = isTransparent && format != .jpeg
    let final: VipsPicture =
      if keepsAlpha {
        picture
      } else if isOpaque {
        try picture.withoutAlpha()
      } else {
        try picture.flattened(onto: variant.background ?? .white)
      }
    return (try save(try kept?.attached(to: final) ?? final, as: format, variant: variant, keeps: kept != nil), format)
  }

  /// The format that is meant, where it does not depend on the picture.
  static func format(of format: OutputFormat) -> ImageFormat? { ImageFormat(rawValue: format.rawValue) }

  /// The format that a thumbnail is written in.
  static func written(as format: OutputFormat, source: ImageFormat, isTransparent: Bool) -> ImageFormat {
    if let meant = Self.format(of: format) { return meant }
    if format == .same, Codec.canWrite(source) { return source }
    if !isTransparent { return .jpeg }
    return Codec.canWrite(.webp) ? .webp : .png
  }

  /// Writes a picture as it is. One whose pages have a height of their own becomes animated, where the format can.
  package static func save(
    _ picture: VipsPicture, as format: ImageFormat, variant: Variant, keeps: Bool
  ) throws(CodecError) -> Data {
    var bytes: UnsafeMutableRawPointer?
    var length = 0
    let image = picture.pointer
    let quality = Int32(min(max(variant.quality, 1), 100))
    // Without anything to keep, what decoders have left in the picture is not written either.
    let strips: Int32 = keeps ? 0 : 1
    func effort(_ standard: Int, _ range: ClosedRange<Int>) -> Int32 {
      let asked = variant.effort.map { range.lowerBound + ($0 * (range.upperBound - range.lowerBound) + 4) / 9 }
      return Int32(asked ?? standard)
    }
    let result =
      switch format {
      case .png: cvips_save_png(image, &bytes, &length, effort(pngEffort, 0...9), strips)
      case .webp: cvips_save_webp(image, &bytes, &length, quality, effort(webpEffort, 0...6), strips)
      case .avif: cvips_save_avif(image, &bytes, &length, quality, effort(avifEffort, 0...9), strips)
      case .jpegXL: cvips_save_jxl(image, &bytes, &length, quality, effort(jxlEffort, 3...9), strips)
      case .gif: cvips_save_gif(image, &bytes, &length, effort(gifEffort, 1...10), strips)
      case .tiff: cvips_save_tiff(image, &bytes, &length, strips)
      default: cvips_save_jpeg(image, &bytes, &length, quality, variant.effort == 0 ? 0 : 1, strips)
      }
    defer { g_free(bytes) }
    guard result == 0, let bytes else { throw .damaged(.encode, detail: Codec.errorText()) }
    // A copy of the exact length: libvips' own buffer may be twice as long, and the cache counts what it holds.
    return Data(bytes: bytes, count: length)
  }
}
