import ImageCodec
import ThumbnailCore

/// What a helper can decode, which decides how long it takes to start.
enum HelperKind: String, Sendable, CaseIterable {
  /// JPEG (also those of RAW files), PNG and WebP in standard colours, with the libraries that the program is linked
  /// to. It reads no file but the image.
  case common
  /// Every format, with libvips and the hundred libraries behind it: it takes four times as long to start.
  case full

  /// What decodes an image, as far as its header tells.
  init(for probe: ImageProbe, _ variants: [Variant]) {
    let isRead = [.jpeg, .png, .webp, .raw].contains(probe.format)
    let isCommon = variants.allSatisfy { variant in
      variant.metadata == .none && (variant.format != .same || isRead)
        && variant.mostFrames(of: probe) == 1 && ![.attention, .entropy].contains(variant.gravity)
    }
    self = isRead && isCommon ? .common : .full
  }
}
