/// What happens to truncated or damaged images.
public enum DamagePolicy: String, Sendable, Codable, CaseIterable {
  /// They are an error.
  case refuse
  /// The readable part is shown, the rest is mid-grey, and the thumbnail is marked (`Thumbnail.isDamaged`). This works
  /// for JPEG and GIF, and for the first rows of non-interlaced PNG, TIFF and other formats that a helper reads row by
  /// row. In other formats, and if no row can be read, damage stays an error.
  case accept
}
