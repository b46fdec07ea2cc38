/// How an image is fitted into the requested box, named as in CSS `object-fit`.
public enum Fit: String, Sendable, Codable, CaseIterable {
  /// The whole image inside the box; the thumbnail may be smaller than the box in one direction.
  case contain
  /// The box filled, the rest cropped; `Gravity` chooses the part that is kept.
  case cover
  /// Stretched to the box.
  case fill
  /// As `cover` if image and box are both upright or both not, else as `contain`. A square is not upright.
  case auto
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
  /// The upper right corner.
  case northeast
  /// The lower right corner.
  case southeast
  /// The lower left corner.
  case southwest
  /// The upper left corner.
  case northwest
}

/// The size at which the image is read before it is reduced to the thumbnail, and so the difference from a full decode
/// that is resized with Lanczos.
public enum Scaling: String, Sendable, Codable, CaseIterable {
  /// At least at the thumbnail's own size: the fewest bytes, the least memory and a visible loss, for placeholders and
  /// very small thumbnails.
  case fast
  /// At twice the thumbnail's size, or less for smooth images: at most one thumbnail in fifty is worse than
  /// vipsthumbnail's by 0.005 SSIM or 0.3 dE2000.
  case good
  /// Always at two and a half times the thumbnail's size. Even at twice its size, none of 269 images was worse by those
  /// limits.
  case best
}

/// The light in which pixels are averaged.
public enum Light: String, Sendable, Codable, CaseIterable {
  /// The values as they are encoded for display, as in most programs: the fastest. Alternating black and white pixels
  /// become 128.
  case display
  /// Linear light, as an eye or a lens averages it: alternating black and white pixels become 188. Bright points and
  /// thin lines on dark keep their brightness; dark ones on bright become paler. The coefficient reader measures the
  /// variance that it averages away in a large JPEG, which takes half as long again. Other images, and all with
  /// `Scaling.best`, are read whole. `Scaling.fast` reads them as small as in display light, and averages only the rest
  /// in linear light.
  case linear
}
