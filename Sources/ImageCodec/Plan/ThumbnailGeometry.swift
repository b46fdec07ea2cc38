import ThumbnailCore

/// Where the pixels of a thumbnail come from, all sizes upright.
///
/// The whole picture is shrunk to `view`, a piece of `cut` is taken out of it, and that is enlarged to `output` in the
/// one case that enlarging was asked for. So nothing large is ever enlarged.
struct ThumbnailGeometry: Sendable, Equatable {
  /// The size of the whole picture before it is cropped, never larger than the picture.
  var view: PixelSize
  /// The size of what is kept of it.
  var cut: PixelSize
  /// The size of the thumbnail.
  var output: PixelSize

  /// Lays a picture into a variant's box.
  ///
  /// - `contain` keeps the picture's aspect, rounded to whole pixels, at least 1.
  /// - `cover` gives exactly the box when the picture is large enough. A picture that is not is cropped to the box's
  ///   aspect instead, at its own size: 300×200 in a box of 400×400 becomes 200×200.
  /// - `fill` gives exactly the box; each side by itself stays at the picture's own when that is shorter.
  init(picture: PixelSize, variant: Variant) {
    let box = variant.size
    switch variant.fit {
    case .contain:
      let fitted = Self.contained(picture, in: box)
      let shrunk = Self.isLarger(fitted, than: picture) ? picture : fitted
      self.init(view: shrunk, cut: shrunk, output: variant.enlarges ? fitted : shrunk)
    case .cover:
      if picture.width >= box.width && picture.height >= box.height {
        self.init(view: Self.covering(picture, box: box), cut: box, output: box)
      } else {
        let cut = Self.contained(box, in: picture)
        self.init(view: picture, cut: cut, output: variant.enlarges ? box : cut)
      }
    case .fill:
      let shrunk = PixelSize(min(box.width, picture.width), min(box.height, picture.height))
      self.init(view: shrunk, cut: shrunk, output: variant.enlarges ? box : shrunk)
    }
  }

  private init(view: PixelSize, cut: PixelSize, output: PixelSize) {
    (self.view, self.cut, self.output) = (view, cut, output)
  }

  /// Whether a part is cut away.
  var crops: Bool { cut != view }

  /// Which part of the view is kept. For gravities that depend on what the picture shows: the middle.
  func cutRectangle(_ gravity: Gravity) -> PixelRectangle {
    let (spareWidth, spareHeight) = (view.width - cut.width, view.height - cut.height)
    var (x, y) = (spareWidth / 2, spareHeight / 2)
    switch gravity {
    case .north: y = 0
    case .south: y = spareHeight
    case .west: x = 0
    case .east: x = spareWidth
    case .centre, .attention, .entropy: break
    }
    return PixelRectangle(x: x, y: y, size: cut)
  }

  private static func isLarger(_ a: PixelSize, than b: PixelSize) -> Bool { a.width > b.width || a.height > b.height }

  /// `size` scaled, up or down, until it just fits into `box`.
  private static func contained(_ size: PixelSize, in box: PixelSize) -> PixelSize {
    // Compares the aspects without division; the products stay far below 63 bits for sides within the limits.
    if size.width * box.height >= size.height * box.width {
      return PixelSize(box.width, max(1, rounded(size.height * box.width, by: size.width)))
    }
    return PixelSize(max(1, rounded(size.width * box.height, by: size.height)), box.height)
  }

  /// `size`, larger than `box` in both directions, shrunk until it just covers it.
  private static func covering(_ size: PixelSize, box: PixelSize) -> PixelSize {
    if size.width * box.height >= size.height * box.width {
      return PixelSize(max(box.width, rounded(size.width * box.height, by: size.height)), box.height)
    }
    return PixelSize(box.width, max(box.height, rounded(size.height * box.width, by: size.width)))
  }

  private static func rounded(_ value: Int, by divisor: Int) -> Int { (2 * value + divisor) / (2 * divisor) }
}
