import CVips
package import ThumbnailCore

/// The pixels of a small picture in memory: sRGB or gray, 8 bit, with or without alpha, not premultiplied.
///
/// What it was computed from, the decoder above all, can be let go. It owns its memory: rows from the top down, without
/// padding, the samples of a pixel side by side.
package final class Raster {
  package let size: PixelSize
  /// 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
  let bands: Int
  /// The ICC profile that says what the samples mean, where they are not sRGB or gray already.
  let profile: [UInt8]?
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
    (pixels, byteCount, size, bands, profile) = (memory, length, picture.size, picture.bands, nil)
  }

  /// Makes a raster whose samples `fill` writes, every one of `size.width * size.height * bands` bytes: they come
  /// uninitialised.
  ///
  /// - Throws: what `fill` throws; `.damaged(.shrink, …)` when there is no memory, or no such raster.
  package init(
    size: PixelSize, bands: Int, profile: [UInt8]? = nil,
    filling fill: (UnsafeMutableRawBufferPointer) throws(CodecError) -> Void
  ) throws(CodecError) {
    let (count, overflow) = size.pixelCount.multipliedReportingOverflow(by: bands)
    guard size.width > 0, size.height > 0, (1...4).contains(bands), !overflow, let memory = g_try_malloc(gsize(count))
    else { throw .damaged(.shrink, detail: "no memory for a raster of \(size) and \(bands) bands") }
    do throws(CodecError) {
      try fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
    } catch {
      g_free(memory)
      throw error
    }
    (pixels, byteCount, self.size, self.bands, self.profile) = (memory, count, size, bands, profile)
  }

  deinit { g_free(pixels) }

  var hasAlpha: Bool { bands == 2 || bands == 4 }

  /// Whether no pixel is transparent, not even partly.
  var isOpaque: Bool {
    guard hasAlpha else { return true }
    let bytes = UnsafeRawBufferPointer(start: pixels, count: byteCount)
    return stride(from: bands - 1, to: byteCount, by: bands).allSatisfy { bytes[$0] == 255 }
  }

  /// Lends the samples.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws(CodecError) -> Result) throws(CodecError) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: pixels, count: byteCount))
  }

  /// The pixels as a picture, with the profile embedded. The raster must outlive everything made of it.
  package func picture() throws(CodecError) -> VipsPicture {
    let space = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
    let image = cvips_image_of_memory(
      pixels, byteCount, Int32(size.width), Int32(size.height), Int32(bands), space)
    guard let image else { throw .damaged(.shrink, detail: Codec.errorText()) }
    if let profile { vips_image_set_blob_copy(image, VIPS_META_ICC_NAME, profile, profile.count) }
    return VipsPicture(owning: image)
  }
}
