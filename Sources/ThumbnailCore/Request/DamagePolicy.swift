/// What becomes of pictures that are truncated or damaged.
public enum DamagePolicy: String, Sendable, Codable, CaseIterable {
  /// They are an error.
  case refuse
  /// What can be read of them is shown, the rest is mid-grey, and the thumbnail is marked (`Thumbnail.isDamaged`). So it is
  /// with JPEG, with the first rows of PNG without interlacing, TIFF and what a helper reads row by row, and with GIF. Of
  /// the others, and where not even a row can be read, it stays an error.
  case accept
}
