/// What of a picture's metadata its thumbnail keeps.
public enum MetadataPolicy: String, Sendable, Codable, CaseIterable {
  /// Nothing: sRGB without a profile, which is what software takes a picture for that says nothing.
  case none
  /// The picture's own colours with the ICC profile that describes them, so that wide gamuts stay wide. CMYK becomes
  /// sRGB all the same.
  case profile
  /// Who made it and whose it is: the EXIF fields Artist and Copyright, in JPEG, WebP and AVIF.
  case copyright
}

/// Which frames of an animated picture its thumbnail shows.
public enum FrameSelection: String, Sendable, Codable, CaseIterable {
  /// The first.
  case first
  /// All of them, of an animated GIF or WebP, where the thumbnail's format can be animated: WebP, `auto` (as WebP) and
  /// `same`. The first for all others.
  case all
}
