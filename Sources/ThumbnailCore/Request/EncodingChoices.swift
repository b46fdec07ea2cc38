/// Which metadata of the source image the thumbnail keeps.
public enum MetadataPolicy: String, Sendable, Codable, CaseIterable {
  /// None: sRGB without a profile, which software assumes for an image without one.
  case none
  /// The image's own colours with their ICC profile, so that wide gamuts are kept. CMYK is converted to sRGB all the
  /// same.
  case profile
  /// The author and copyright: the EXIF fields Artist and Copyright, in JPEG, WebP and AVIF.
  case copyright
}

/// Which frames of an animated image the thumbnail shows.
public enum FrameSelection: String, Sendable, Codable, CaseIterable {
  /// The first.
  case first
  /// All frames of an animated GIF or WebP, if the thumbnail's format can be animated: WebP, `auto` (as WebP) and
  /// `same`. Otherwise the first frame.
  case all
}
