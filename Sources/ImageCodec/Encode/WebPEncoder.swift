import CWebP
import FoundationEssentials
import ThumbnailCore

/// Encodes a raster as a lossy WebP with libwebp.
struct WebPEncoder {
  /// 1 to 100.
  var quality: Int
  /// The method, 0 (fast) to 6 (small).
  var method: Int

  /// Encodes gray or RGB, with or without alpha.
  ///
  /// - Throws: `.damaged(.encode, …)`, `.outOfMemory`; `.encoderUnavailable` if the program was built for another
  ///   version of libwebp.
  func encode(_ raster: Raster) throws(CodecError) -> Data {
    let raster = raster.bands < 3 ? try raster.rgba() : raster
    var config = WebPConfig()
    var picture = WebPPicture()
    guard WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, Float(min(max(quality, 1), 100))) != 0,
      WebPPictureInit(&picture) != 0
    else { throw .encoderUnavailable(.webp) }
    config.method = Int32(method)
    (picture.width, picture.height) = (Int32(raster.size.width), Int32(raster.size.height))
    var output = WebPMemoryWriter()
    WebPMemoryWriterInit(&output)
    defer {
      WebPPictureFree(&picture)
      WebPMemoryWriterClear(&output)
    }
    let isWritten = raster.withSamples { samples in
      let stride = Int32(raster.size.width * raster.bands)
      let isImported =
        raster.hasAlpha
        ? WebPPictureImportRGBA(&picture, samples, stride) : WebPPictureImportRGB(&picture, samples, stride)
      guard isImported != 0 else { return false }
      picture.writer = WebPMemoryWrite
      return withUnsafeMutablePointer(to: &output) { output in
        picture.custom_ptr = UnsafeMutableRawPointer(output)
        return WebPEncode(&config, &picture) != 0
      }
    }
    guard isWritten, let bytes = output.mem else {
      if [VP8_ENC_ERROR_OUT_OF_MEMORY, VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY].contains(picture.error_code) {
        throw .outOfMemory
      }
      throw .damaged(.encode, detail: Self.text(of: picture.error_code))
    }
    // Before the copy: the planes are not needed any more.
    WebPPictureFree(&picture)
    // A copy of the exact length: libwebp's buffer may be twice as long, and the cache counts the bytes that it holds.
    return Data(bytes: bytes, count: output.size)
  }

  private static func text(of error: WebPEncodingError) -> String {
    switch error {
    case VP8_ENC_ERROR_BAD_DIMENSION: "a WebP has at most 16,383 pixels a side"
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW, VP8_ENC_ERROR_PARTITION_OVERFLOW, VP8_ENC_ERROR_FILE_TOO_BIG:
      "too much detail for a WebP of this size; choose a smaller one, or a lower quality"
    default: "libwebp's error \(error.rawValue)"
    }
  }
}
