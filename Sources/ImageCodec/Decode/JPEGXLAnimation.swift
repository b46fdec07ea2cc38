import CVips
import Glibc
import ThumbnailCore

/// The first frame of a JPEG XL animation, by libjxl, which libvips has loaded: libvips itself shows the last one.
enum JPEGXLAnimation {
  private typealias Make = @convention(c) (OpaquePointer?) -> OpaquePointer?
  private typealias Step = @convention(c) (OpaquePointer) -> Int32
  private typealias Subscribe = @convention(c) (OpaquePointer, Int32) -> Int32
  private typealias Input = @convention(c) (OpaquePointer, UnsafeRawPointer?, Int) -> Int32
  private typealias Information = @convention(c) (OpaquePointer, UnsafeMutablePointer<UInt32>) -> Int32
  private typealias Output =
    @convention(c) (OpaquePointer, UnsafePointer<UInt32>, UnsafeMutableRawPointer, Int) -> Int32

  /// The states of the decoder (`JxlDecoderStatus`).
  private static let (needsOutput, hasInformation, hasImage): (Int32, Int32, Int32) = (5, 0x40, 0x1000)
  /// The index of `have_animation` in the numbers of `JxlBasicInfo`, which takes less than 1 KiB.
  private static let animated = 11

  private static func function<Call>(_ name: String, _ type: Call.Type) -> Call? {
    dlsym(nil, name).map { unsafeBitCast($0, to: type) }
  }

  /// The frame in the format of `image`, which libvips has opened; nil if there is no animation.
  static func firstFrame(_ bytes: UnsafeRawBufferPointer, like image: LibvipsImage) throws(CodecError) -> LibvipsImage?
  {
    guard let make = function("JxlDecoderCreate", Make.self),
      let process = function("JxlDecoderProcessInput", Step.self),
      let subscribe = function("JxlDecoderSubscribeEvents", Subscribe.self),
      let input = function("JxlDecoderSetInput", Input.self),
      let information = function("JxlDecoderGetBasicInfo", Information.self),
      let output = function("JxlDecoderSetImageOutBuffer", Output.self), let decoder = make(nil)
    else { return nil }
    defer { _ = function("JxlDecoderDestroy", Step.self)?(decoder) }
    var numbers = [UInt32](repeating: 0, count: 256)
    guard subscribe(decoder, hasInformation | hasImage) == 0, input(decoder, bytes.baseAddress, bytes.count) == 0,
      process(decoder) == hasInformation, information(decoder, &numbers) == 0, numbers[animated] != 0
    else { return nil }
    let sampleBytes = vips_format_sizeof(image.format)
    // JXL_TYPE_UINT8, JXL_TYPE_UINT16 and JXL_TYPE_FLOAT; then the machine's byte order, and no padding.
    let format: [UInt32] = [UInt32(image.bands), sampleBytes == 1 ? 2 : sampleBytes == 2 ? 3 : 0, 0, 0, 0, 0]
    var status = process(decoder)
    let frame = try LibvipsImage.filled(
      image.size, bands: image.bands, image.format, image.interpretation, missing: 0
    ) { samples in
      while status == needsOutput, let start = samples.baseAddress, output(decoder, format, start, samples.count) == 0 {
        status = process(decoder)
      }
    }
    guard status == hasImage else { throw .truncated(detail: "in the first frame") }
    if let profile = image.profile {
      vips_image_set_blob_copy(frame.pointer, VIPS_META_ICC_NAME, profile, profile.count)
    }
    return frame
  }
}
