package import ThumbnailCore

extension Variant {
  /// The size of the thumbnail of an image of that size, upright.
  package func outputSize(of source: PixelSize) -> PixelSize { ThumbnailGeometry(source: source, variant: self).output }

  /// The size of that thumbnail's pixels, before a small image is enlarged.
  package func rasterSize(of source: PixelSize) -> PixelSize { ThumbnailGeometry(source: source, variant: self).cut }

  /// The size at which a drawing of that size is rendered: so many times its own that it is no smaller than the box.
  package func drawnSize(of source: PixelSize) -> PixelSize {
    let times = max(
      1, (size.width + source.width - 1) / source.width, (size.height + source.height - 1) / source.height)
    return PixelSize(source.width * times, source.height * times)
  }
}

/// The geometry of a thumbnail; all sizes are upright.
///
/// The whole image is reduced to `view`, a part of size `cut` is cropped from it, and that is enlarged to `output` only
/// if enlarging was requested. So nothing large is ever enlarged.
struct ThumbnailGeometry: Sendable, Equatable {
  /// The size of the reduced image before cropping, never larger than the source image.
  var view: PixelSize
  /// The size of the cropped part.
  var cut: PixelSize
  /// The size of the thumbnail.
  var output: PixelSize

  /// Fits an image into a variant's box.
  ///
  /// - `contain` keeps the image's aspect ratio, rounded to whole pixels, at least 1.
  /// - `cover` gives exactly the box if the image is large enough. Otherwise the image is cropped to the box's aspect
  ///   ratio at its own size: 300×200 in a box of 400×400 becomes 200×200.
  /// - `fill` gives exactly the box; a side of the image that is shorter than the box's stays as it is.
  init(source: PixelSize, variant: Variant) {
    let box = variant.size
    switch variant.fit {
    case .contain:
      let fitted = Self.contained(source, in: box)
      let shrunk = Self.isLarger(fitted, than: source) ? source : fitted
      self.init(view: shrunk, cut: shrunk, output: variant.enlarges ? fitted : shrunk)
    case .cover:
      if source.width >= box.width && source.height >= box.height {
        self.init(view: Self.covering(source, box: box), cut: box, output: box)
      } else {
        let cut = Self.contained(box, in: source)
        self.init(view: source, cut: cut, output: variant.enlarges ? box : cut)
      }
    case .fill:
      let shrunk = PixelSize(min(box.width, source.width), min(box.height, source.height))
      self.init(view: shrunk, cut: shrunk, output: variant.enlarges ? box : shrunk)
    }
  }

  private init(view: PixelSize, cut: PixelSize, output: PixelSize) {
    (self.view, self.cut, self.output) = (view, cut, output)
  }

  /// Whether anything is cropped.
  var crops: Bool { cut != view }

  /// The part of the view to keep. For gravities that depend on the image's content: the centre.
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

  /// `size` scaled up or down to the largest that fits into `box`.
  private static func contained(_ size: PixelSize, in box: PixelSize) -> PixelSize {
    // Compares aspect ratios without division; the products stay far below 63 bits for sides within the limits.
    if size.width * box.height >= size.height * box.width {
      return PixelSize(box.width, max(1, rounded(size.height * box.width, by: size.width)))
    }
    return PixelSize(max(1, rounded(size.width * box.height, by: size.height)), box.height)
  }

  /// `size`, larger than `box` in both directions, reduced to the smallest that covers it.
  private static func covering(_ size: PixelSize, box: PixelSize) -> PixelSize {
    if size.width * box.height >= size.height * box.width {
      return PixelSize(max(box.width, rounded(size.width * box.height, by: size.height)), box.height)
    }
    return PixelSize(box.width, max(box.height, rounded(size.height * box.width, by: size.width)))
  }

  private static func rounded(_ value: Int, by divisor: Int) -> Int { (2 * value + divisor) / (2 * divisor) }
}
