import ThumbnailCore

/// The eight EXIF orientations of a stored image, and the transformation that makes each upright.
struct Orientation: Sendable, Equatable {
  /// 1 to 8.
  let exif: Int

  /// Any value other than 1 to 8 counts as upright, as in viewers.
  init(exif: Int) { self.exif = (1...8).contains(exif) ? exif : 1 }

  /// Whether width and height are swapped.
  var swapsSides: Bool { exif >= 5 }

  /// The upright size of an image stored with `size`.
  func upright(_ size: PixelSize) -> PixelSize { swapsSides ? PixelSize(size.height, size.width) : size }

  /// The stored size of an image that is upright with `size`.
  func stored(_ size: PixelSize) -> PixelSize { upright(size) }

  /// The stored pixels of an upright rectangle, in an image stored with `size`.
  func stored(_ rectangle: PixelRectangle, in size: PixelSize) -> PixelRectangle {
    let (x, y, cut) = (rectangle.x, rectangle.y, rectangle.size)
    // The margins to the right of the rectangle and below it, in the upright image.
    let right = upright(size).width - x - cut.width
    let below = upright(size).height - y - cut.height
    let origin =
      switch exif {
      case 2: (right, y)
      case 3: (right, below)
      case 4: (x, below)
      case 5: (y, x)
      case 6: (y, right)
      case 7: (below, right)
      case 8: (below, x)
      default: (x, y)
      }
    return PixelRectangle(x: origin.0, y: origin.1, size: stored(cut))
  }
}

/// A part of an image, in pixels from its upper left corner.
struct PixelRectangle: Sendable, Equatable {
  var x: Int
  var y: Int
  var size: PixelSize
}
