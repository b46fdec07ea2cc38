import CVips
import ThumbnailCore

extension LibvipsImage {
  /// The image in sRGB or gray, 8 bits, with at most four bands; itself if it is so already.
  ///
  /// An embedded profile is applied if it fits the pixels, else ignored, as in browsers. With `keepingProfile` the
  /// colours stay in the profile's space, except for CMYK.
  func standardColours(keepingProfile: Bool = false) throws(CodecError) -> LibvipsImage {
    var image = try converted(keepingProfile: keepingProfile)
    if image.format != VIPS_FORMAT_UCHAR {
      image = try image.applying { cvips_cast($0, $1, VIPS_FORMAT_UCHAR) }
    }
    let isGray = image.interpretation == VIPS_INTERPRETATION_B_W
    let most = isGray ? 2 : 4
    return image.bands > most ? try image.applying { cvips_extract_bands($0, $1, 0, Int32(most)) } : image
  }

  private func converted(keepingProfile: Bool) throws(CodecError) -> LibvipsImage {
    let space = interpretation
    let isCMYK = space == VIPS_INTERPRETATION_CMYK
    let found = profile.flatMap { ICCProfile($0) }
    if isCMYK || (!keepingProfile && found?.isSRGB == false) {
      // libvips leaves an image as it is if its profile lacks the intent.
      let intent = found?.isPerceptualOnly == true ? VIPS_INTENT_PERCEPTUAL : VIPS_INTENT_RELATIVE
      // Two attempts, because libvips reports a lack of memory like an unusable profile.
      for _ in 0..<2 {
        if let managed = try? applying(
          .shrink, { cvips_icc_to_srgb($0, $1, found == nil ? 0 : 1, isCMYK ? "cmyk" : "srgb", intent) })
        {
          return managed
        }
        // Drops the error text of the failed attempt.
        vips_error_clear()
      }
    }
    switch space {
    case VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_B_W:
      return self
    case VIPS_INTERPRETATION_RGB:
      return try applying { cvips_reinterpret($0, $1, VIPS_INTERPRETATION_sRGB) }
    case VIPS_INTERPRETATION_GREY16:
      return try applying { cvips_colourspace($0, $1, VIPS_INTERPRETATION_B_W) }
    default:
      if vips_colourspace_issupported(pointer) != 0 {
        return try applying { cvips_colourspace($0, $1, VIPS_INTERPRETATION_sRGB) }
      }
      // Bands of unknown meaning: the first three as RGB, or the first as gray.
      let count: Int32 = bands >= 3 ? 3 : 1
      return try applying { cvips_extract_bands($0, $1, 0, count) }
        .applying {
          cvips_reinterpret($0, $1, count == 3 ? VIPS_INTERPRETATION_sRGB : VIPS_INTERPRETATION_B_W)
        }
    }
  }

  /// The embedded profile, if it fits the samples.
  var profile: [UInt8]? {
    var data: UnsafeRawPointer?
    var length = 0
    guard hasProfile, vips_image_get_blob(pointer, VIPS_META_ICC_NAME, &data, &length) == 0, let data else {
      return nil
    }
    let colours =
      switch interpretation {
      case VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16: 1
      case VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_RGB, VIPS_INTERPRETATION_RGB16: 3
      case VIPS_INTERPRETATION_CMYK: 4
      default: 0
      }
    return ICCProfile.fitting(Array(UnsafeRawBufferPointer(start: data, count: length)), colours: colours)
  }
}
