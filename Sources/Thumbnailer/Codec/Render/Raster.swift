import CVips

/// The pixels of a small picture in memory: sRGB or gray, 8 bit, with or without alpha, not premultiplied.
///
/// What it was computed from, the decoder above all, can be let go. It owns its memory.
final class Raster {
  let size: PixelSize
  /// 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
  let bands: Int
  private let pixels: UnsafeMutableRawPointer
  private let byteCount: Int

  /// Computes a picture, which must be of 8-bit samples and 1 to 4 bands.
  ///
  /// - Throws: `.damaged(.decode, …)` when the decoder or anything after it fails.
  init(computing picture: VipsPicture) throws(CodecError) {
    var length = 0
    guard let memory = vips_image_write_to_memory(picture.pointer, &length) else {
      throw .damaged(.decode, detail: Codec.errorText())
    }
    (pixels, byteCount, size, bands) = (memory, length, picture.size, picture.bands)
  }

  deinit { g_free(pixels) }

  var hasAlpha: Bool { bands == 2 || bands == 4 }

  /// Whether no pixel is transparent, not even partly.
  var isOpaque: Bool {
    guard hasAlpha else { return true }
    let bytes = UnsafeRawBufferPointer(start: pixels, count: byteCount)
    return stride(from: bands - 1, to: byteCount, by: bands).allSatisfy { bytes[$0] == 255 }
  }

  /// The pixels as a picture. The raster must outlive everything made of it.
  func picture() throws(CodecError) -> VipsPicture {
    let image = vips_image_new_from_memory(
      pixels, byteCount, Int32(size.width), Int32(size.height), Int32(bands), VIPS_FORMAT_UCHAR)
    guard let image else { throw .damaged(.shrink, detail: Codec.errorText()) }
    let space = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
    return try VipsPicture(owning: image).applying { cvips_reinterpret($0, $1, space) }
  }
}
