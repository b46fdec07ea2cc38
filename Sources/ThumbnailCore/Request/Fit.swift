/// How an image is fitted into the requested box, named as in CSS `object-fit`.
public enum Fit: String, Sendable, Codable, CaseIterable {
  /// The whole image inside the box; the thumbnail may be smaller than the box in one direction.
  case contain
  /// The box filled, the rest cropped; `Gravity` chooses what is kept.
  case cover
  /// Stretched to the box.
  case fill
  /// As `cover` where image and box are both upright or both not, else as `contain`. A square is not upright.
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

/// How finely the image is read before it is reduced to the thumbnail: how far the thumbnail may be from a full decode
/// that is resized with Lanczos.
public enum Scaling: String, Sendable, Codable, CaseIterable {
  /// At least at the thumbnail's own size: the fewest bytes, the least memory and a visible loss, for placeholders and
  /// very small thumbnails.
  case fast
  /// So that at most one thumbnail in fifty is worse than vipsthumbnail's by 0.005 SSIM or 0.3 dE2000: at twice the
  /// thumbnail's size, or less where the picture is smooth.
  case good
  /// Always at two and a half times the thumbnail's size. At twice its size already, none of 269 pictures was worse by
  /// those limits.
  case best
}

/// The light in which pixels are averaged.
public enum Light: String, Sendable, Codable, CaseIterable {
  /// The values as they are encoded for display: the fastest, and what most programs do. Black and white pixels in turn
  /// become 128.
  case display
  /// Linear light, as an eye or a lens averages it: black and white pixels in turn become 188. Bright points and thin
  /// lines on dark keep their brightness; dark ones on bright become paler. Of a large JPEG the coefficient reader
  /// measures what it averages, which takes half as long again; other images, and all with `Scaling.best`, are read
  /// whole. With `Scaling.fast` they are read as small as ever, so that only the rest is averaged in linear light.
  case linear
}
