import CVips
import Glibc
import ThumbnailCore

/// Owns one reference to a `VipsImage`, which `deinit` releases.
///
/// An image is a recipe; its pixels are computed when they are read. libvips' own references keep its sources alive.
/// One thread at a time may use it.
package final class LibvipsImage {
  /// Valid as long as this object lives.
  let pointer: UnsafeMutablePointer<VipsImage>

  /// Takes ownership of a reference.
  init(owning pointer: UnsafeMutablePointer<VipsImage>) { self.pointer = pointer }

  deinit { g_object_unref(pointer) }

  var size: PixelSize { PixelSize(Int(vips_image_get_width(pointer)), Int(vips_image_get_height(pointer))) }
  var bands: Int { Int(vips_image_get_bands(pointer)) }
  var format: VipsBandFormat { vips_image_get_format(pointer) }
  var isFloatingPoint: Bool { vips_band_format_isfloat(format) != 0 }
  var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
  /// The colour space, inferred from the pixels if it contradicts the header.
  var interpretation: VipsInterpretation { vips_image_guess_interpretation(pointer) }
  var hasProfile: Bool { vips_image_get_typeof(pointer, VIPS_META_ICC_NAME) != 0 }

  /// Makes an image with a libvips call that returns 0 and stores the image through its pointer.
  ///
  /// - Throws: `.damaged(stage, …)` with libvips' error text when the call fails.
  static func make(
    _ stage: CodecError.Stage, _ call: (_ out: UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> Int32
  ) throws(CodecError) -> LibvipsImage {
    var out: UnsafeMutablePointer<VipsImage>?
    guard call(&out) == 0, let out else { throw .damaged(stage, detail: Codec.errorText()) }
    return LibvipsImage(owning: out)
  }

  /// An image of bytes that `fill` writes; those that it does not write are `missing`.
  static func filled(
    _ size: PixelSize, bands: Int, _ format: VipsBandFormat = VIPS_FORMAT_UCHAR,
    _ space: VipsInterpretation = VIPS_INTERPRETATION_sRGB, missing: UInt8,
    _ fill: (UnsafeMutableBufferPointer<UInt8>) -> Void
  ) throws(CodecError) -> LibvipsImage {
    let byteCount = size.width * size.height * bands * Int(vips_format_sizeof(format))
    guard let memory = malloc(byteCount) else { throw .outOfMemory }
    let bytes = UnsafeMutableBufferPointer(start: memory.assumingMemoryBound(to: UInt8.self), count: byteCount)
    bytes.initialize(repeating: missing)
    fill(bytes)
    let image = cvips_image_owning_memory(
      memory, byteCount, Int32(size.width), Int32(size.height), Int32(bands), format, space)
    guard let image else { throw .damaged(.decode, detail: Codec.errorText()) }
    return LibvipsImage(owning: image)
  }

  /// The result of applying `operation` to this image.
  func applying(
    _ stage: CodecError.Stage = .shrink,
    _ operation: (
      _ image: UnsafeMutablePointer<VipsImage>, _ out: UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>
    ) -> Int32
  ) throws(CodecError) -> LibvipsImage {
    try Self.make(stage) { operation(pointer, $0) }
  }
}

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
    let resized = try applying { cvips_scale_by_alpha("premultiply", $0, $1, opaque) }
      .applying { cvips_cast($0, $1, format) }
      .applying { cvips_resize($0, $1, across, down) }
      .applying { cvips_scale_by_alpha("unpremultiply", $0, $1, opaque) }
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

  /// The part to crop that libvips' attention or entropy strategy finds. Reads the image several times.
  ///
  /// The search ignores alpha: with it, libvips uses histograms of 40 MB.
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
    var image = self
    if bands < 3 { image = try applying { cvips_colourspace($0, $1, VIPS_INTERPRETATION_sRGB) } }
    return image.hasAlpha ? image : try image.applying { cvips_addalpha($0, $1) }
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

  /// A copy with metadata of its own; the pixels are shared.
  func copied() throws(CodecError) -> LibvipsImage { try applying { cvips_apply("copy", $0, $1) } }
}
