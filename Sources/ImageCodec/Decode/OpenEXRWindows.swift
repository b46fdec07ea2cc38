import CVips
import ThumbnailCore

/// The data window and the display window of an OpenEXR file: the stored pixels, and the visible part of the plane.
///
/// libvips shows exactly the stored pixels: a rendered region would fill the thumbnail, and pixels outside the frame
/// would be visible.
///
/// Source: "OpenEXR File Layout" and "Technical Introduction to OpenEXR", dataWindow and displayWindow.
struct OpenEXRWindows {
  /// Left, top, right and bottom, all inclusive.
  private typealias Window = (left: Int, top: Int, right: Int, bottom: Int)

  /// The place of the stored pixels in the image, which may be partly outside it.
  let left: Int
  let top: Int
  /// The size of the picture.
  let size: PixelSize

  /// Reads the header; nil if both windows are the same, or one is missing or empty.
  init?(_ header: HeaderBytes) {
    var windows: [String: Window] = [:]
    // After the magic number and the version each attribute has a name, a type and a length; an empty name ends them.
    var place = 8
    while let name = Self.text(header, &place), !name.isEmpty, let type = Self.text(header, &place),
      let length = header.littleEndian(at: place, count: 4)
    {
      place += 4
      if type == "box2i", windows[name] == nil { windows[name] = Self.window(header, at: place) }
      place += length
    }
    guard let stored = windows["dataWindow"], let shown = windows["displayWindow"], stored != shown,
      shown.right >= shown.left, shown.bottom >= shown.top
    else { return nil }
    (left, top) = (stored.left - shown.left, stored.top - shown.top)
    size = PixelSize(shown.right - shown.left + 1, shown.bottom - shown.top + 1)
  }

  /// The picture, transparent where nothing is stored.
  func picture(_ stored: LibvipsImage) throws(CodecError) -> LibvipsImage {
    // What libvips 8.14 takes. Later ones take more, and have a function in place of the number.
    let most = 10_000_000
    guard size.width <= most, size.height <= most, abs(left) <= most, abs(top) <= most else {
      throw .unsupported("an OpenEXR display window of more than \(most) pixels a side")
    }
    guard left < size.width, top < size.height, left + stored.size.width > 0, top + stored.size.height > 0 else {
      throw .unsupported("an OpenEXR file whose display window has none of its pixels")
    }
    return try stored.applying(.header) {
      cvips_embed_clear($0, $1, Int32(left), Int32(top), Int32(size.width), Int32(size.height))
    }
  }

  /// A text of at most 255 bytes that ends with a zero byte; moves behind it.
  private static func text(_ header: HeaderBytes, _ place: inout Int) -> String? {
    var bytes: [UInt8] = []
    while bytes.count <= 255, let byte = header[place + bytes.count] {
      if byte == 0 {
        place += bytes.count + 1
        return String(decoding: bytes, as: UTF8.self)
      }
      bytes.append(UInt8(byte))
    }
    return nil
  }

  private static func window(_ header: HeaderBytes, at place: Int) -> Window? {
    let sides = (0..<4).compactMap { side in
      header.littleEndian(at: place + 4 * side, count: 4).map { Int(Int32(truncatingIfNeeded: $0)) }
    }
    return sides.count == 4 ? (sides[0], sides[1], sides[2], sides[3]) : nil
  }
}
