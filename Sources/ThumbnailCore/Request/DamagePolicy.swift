/// What happens to truncated or damaged images.
public enum DamagePolicy: String, Sendable, Codable, CaseIterable {
  /// They are an error.
  case refuse
  /// The readable part is shown, the rest is mid-grey, and the thumbnail is marked (`Thumbnail.isDamaged`). This works
  /// for JPEG and GIF, and for the first rows of non-interlaced PNG, TIFF and what a helper reads row by row. For other
  /// formats, and where not even a row can be read, it stays an error.
  case accept
}
