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

/// Finds the orientation in EXIF data.
enum Exif {
  private static let orientationTag = 0x0112

  /// The orientation in a TIFF structure that starts at `start`; nil if it is missing or invalid.
  static func orientation(in bytes: HeaderBytes, at start: Int) -> Int? {
    let isBigEndian: Bool
    if bytes.has("MM", at: start) {
      isBigEndian = true
    } else if bytes.has("II", at: start) {
      isBigEndian = false
    } else {
      return nil
    }
    func number(_ offset: Int, _ count: Int) -> Int? {
      isBigEndian
        ? bytes.bigEndian(at: start + offset, count: count) : bytes.littleEndian(at: start + offset, count: count)
    }
    guard number(2, 2) == 42, let directory = number(4, 4), let entries = number(directory, 2) else { return nil }
    for index in 0..<entries {
      let entry = directory + 2 + 12 * index
      guard let tag = number(entry, 2) else { return nil }
      if tag == orientationTag, let kind = number(entry + 2, 2) {
        // A SHORT in the standard; some writers use a LONG.
        let value = kind == 4 ? number(entry + 8, 4) : number(entry + 8, 2)
        return value.flatMap { (1...8).contains($0) ? $0 : nil }
      }
    }
    return nil
  }
}
