/// How a picture is laid into the box it is asked for, as CSS `object-fit` names it.
public enum Fit: String, Sendable, Codable, CaseIterable {
  /// Whole picture inside the box; the thumbnail may be smaller than the box in one direction.
  case contain
  /// Box filled, the rest cropped; what stays is chosen by `Gravity`.
  case cover
  /// Stretched to the box.
  case fill
}

/// Which part of the picture `Fit.cover` keeps.
public enum Gravity: String, Sendable, Codable, CaseIterable {
  /// The middle.
  case centre
  /// The part that draws the eye: edges, saturated colours and skin tones.
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

/// How much of the picture is decoded before the last resize.
public enum Scaling: String, Sendable, Codable, CaseIterable {
  /// At least the thumbnail's own size: the fewest bytes and the least memory.
  case fast
  /// At least twice the thumbnail's size: a little sharper, and slower.
  case best
}
