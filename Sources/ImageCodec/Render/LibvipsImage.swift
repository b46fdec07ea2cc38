import CVips
import ThumbnailCore

/// Owns one reference to a `VipsImage`, which `deinit` releases.
///
/// An image is a recipe; its pixels are computed when something reads them. libvips' own references keep alive what it
/// was made from. To be used by one thread at a time.
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
