/// How an image is fitted into the requested box, named as in CSS `object-fit`.
public enum Fit: String, Sendable, Codable, CaseIterable {
  /// The whole image inside the box; the thumbnail may be smaller than the box in one direction.
  case contain
  /// The box filled, the rest cropped; `Gravity` chooses what is kept.
  case cover
  /// Stretched to the box.
  case fill
}

/// Which part of the image `Fit.cover` keeps.
public enum Gravity: String, Sendable, Codable, CaseIterable {
  /// The middle.
  case centre
  /// The most conspicuous part: edges, saturated colours and skin tones.
  case attention
  /// The part with the most detail.
  case entropy
  /// The upper edge.
  case north
  /// The right edge.
  case east
  /// The lower edge.
  case south
  /// The left edge.
  case west
}

/// How much of the image is decoded before the last resize.
public enum Scaling: String, Sendable, Codable, CaseIterable {
  /// At least the thumbnail's own size: the fewest bytes and the least memory.
  case fast
  /// At least twice the thumbnail's size: a little sharper, and slower.
  case best
}
