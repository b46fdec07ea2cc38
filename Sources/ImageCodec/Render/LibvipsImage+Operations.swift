import CVips
import ThumbnailCore

extension LibvipsImage {
  /// The image scaled to exactly `target`. Transparent pixels do not bleed their colour into their neighbours.
  func resized(to target: PixelSize) throws(CodecError) -> LibvipsImage {
    guard target != size else { return self }
    let across = Double(target.width) / Double(size.width)
    let down = Double(target.height) / Double(size.height)
    guard hasAlpha else { return try applying { cvips_resize($0, $1, across, down) } }
    // Premultiplied in the image's own bit depth, as in browsers: libvips' floating-point samples would take four times
    // the memory in rows of the full width.
    let (format, opaque) = (format, opaqueAlpha)
    let resized = try applying { cvips_premultiply($0, $1, opaque) }
      .applying { cvips_cast($0, $1, format) }
      .applying { cvips_resize($0, $1, across, down) }
      .applying { cvips_unpremultiply($0, $1, opaque) }
    // Integers are rounded, not truncated; floating-point samples range from 0 to 1, so rounding would leave two
    // levels.
    let exact = isFloatingPoint ? resized : try resized.applying { cvips_round($0, $1) }
    return try exact.applying { cvips_cast($0, $1, format) }
  }

  /// The alpha value of an opaque pixel. libvips uses 255 for floating-point samples too.
  private var opaqueAlpha: Double {
    format == VIPS_FORMAT_USHORT && [VIPS_INTERPRETATION_RGB16, VIPS_INTERPRETATION_GREY16].contains(interpretation)
      ? 65_535 : 255
  }

  /// A part of the image.
  func cropped(to part: PixelRectangle) throws(CodecError) -> LibvipsImage {
    guard part.size != size else { return self }
    return try applying {
      cvips_extract_area(
        $0, $1, Int32(part.x), Int32(part.y), Int32(part.size.width), Int32(part.size.height))
    }
  }

  /// The crop that libvips' attention or entropy strategy finds. Reads the image several times.
  ///
  /// The search ignores alpha: with it, libvips uses histograms of 40 MB.
  func croppedBySight(to target: PixelSize, gravity: Gravity) throws(CodecError) -> LibvipsImage {
    try cropped(to: try partBySight(of: target, gravity: gravity))
  }

  /// The rectangle of that crop.
  func partBySight(of target: PixelSize, gravity: Gravity) throws(CodecError) -> PixelRectangle {
    let interesting = gravity == .entropy ? VIPS_INTERESTING_ENTROPY : VIPS_INTERESTING_ATTENTION
    let found = try flattened(onto: .white).applying {
      cvips_smartcrop($0, $1, Int32(target.width), Int32(target.height), interesting)
    }
    // A cropped image stores the offset of its original's corner.
    let (x, y) = (-Int(vips_image_get_xoffset(found.pointer)), -Int(vips_image_get_yoffset(found.pointer)))
    return PixelRectangle(x: x, y: y, size: target)
  }

  /// The image as RGB with alpha.
  func withFourBands() throws(CodecError) -> LibvipsImage {
    var picture = self
    if bands < 3 { picture = try picture.applying { cvips_colourspace($0, $1, VIPS_INTERPRETATION_sRGB) } }
    return picture.hasAlpha ? picture : try picture.applying { cvips_addalpha($0, $1) }
  }

  /// The image on an opaque background.
  func flattened(onto colour: RGBColor) throws(CodecError) -> LibvipsImage {
    guard hasAlpha else { return self }
    let isGray = bands == 2
    let channels = [colour.red, colour.green, colour.blue].map { Double($0) }
    if isGray && Set(channels).count > 1 {
      return try applying { cvips_colourspace($0, $1, VIPS_INTERPRETATION_sRGB) }.flattened(onto: colour)
    }
    return try applying { cvips_flatten($0, $1, channels, isGray ? 1 : 3) }
  }

  /// The image without its alpha.
  func withoutAlpha() throws(CodecError) -> LibvipsImage {
    guard hasAlpha else { return self }
    let colours = Int32(bands - 1)
    return try applying { cvips_extract_bands($0, $1, 0, colours) }
  }
}
