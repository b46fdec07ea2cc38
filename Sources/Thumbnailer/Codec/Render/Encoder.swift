import CVips
import Foundation

/// Writes finished pixels as a file in memory.
enum Encoder {
  /// How hard WebP's encoder tries, 0 to 6. 4 is its own default.
  private static let webpEffort: Int32 = 4
  /// How hard AVIF's encoder tries, 0 to 9.
  private static let avifEffort: Int32 = 3

  /// Encodes a picture of 1 to 4 bands of 8 bits, as `standardColours()` gives it. `isOpaque` tells whether its alpha,
  /// if any, can be dropped.
  ///
  /// - Throws: `.encoderUnavailable` or `.damaged(.encode, …)`.
  static func encode(
    _ picture: VipsPicture, isOpaque: Bool, for variant: Variant
  ) throws(CodecError) -> (data: Data, format: ImageFormat) {
    let isTransparent = !isOpaque && variant.background == nil
    let format = concrete(variant.format, isTransparent: isTransparent)
    guard Codec.hasOperation(Codec.saverName(format)) else { throw .encoderUnavailable(format) }
    let keepsAlpha = isTransparent && format != .jpeg
    let final: VipsPicture =
      if keepsAlpha {
        picture
      } else if isOpaque {
        try picture.withoutAlpha()
      } else {
        try picture.flattened(onto: variant.background ?? .white)
      }
    return try save(final, as: format, quality: Int32(min(max(variant.quality, 1), 100)))
  }

  private static func concrete(_ format: OutputFormat, isTransparent: Bool) -> OutputFormat {
    guard format == .auto else { return format }
    if !isTransparent { return .jpeg }
    return Codec.hasOperation(Codec.saverName(.webp)) ? .webp : .png
  }

  private static func save(
    _ picture: VipsPicture, as format: OutputFormat, quality: Int32
  ) throws(CodecError) -> (data: Data, format: ImageFormat) {
    var bytes: UnsafeMutableRawPointer?
    var length = 0
    let (result, written): (Int32, ImageFormat) =
      switch format {
      case .auto, .jpeg: (cvips_save_jpeg(picture.pointer, &bytes, &length, quality), .jpeg)
      case .png: (cvips_save_png(picture.pointer, &bytes, &length), .png)
      case .webp: (cvips_save_webp(picture.pointer, &bytes, &length, quality, webpEffort), .webp)
      case .avif: (cvips_save_avif(picture.pointer, &bytes, &length, quality, avifEffort), .avif)
      }
    defer { g_free(bytes) }
    guard result == 0, let bytes else { throw .damaged(.encode, detail: Codec.errorText()) }
    // A copy of the exact length: libvips' own buffer may be twice as long, and the cache counts what it holds.
    return (Data(bytes: bytes, count: length), written)
  }
}
