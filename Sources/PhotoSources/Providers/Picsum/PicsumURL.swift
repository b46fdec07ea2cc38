import Foundation
import ThumbnailCore

/// URLs of Lorem Picsum, which scales images on demand.
enum PicsumURL {
  /// The longest side that the server renders, in pixels.
  private static let longestSide = 5000

  /// The URL of an image in the size that a cell needs, or in its own size.
  ///
  /// The aspect ratio is kept, since the server crops to any other.
  ///
  /// - Parameter picture: The part of the URL before the size: `https://picsum.photos/id/7`.
  static func variant(of picture: URL, source: PixelSize?, for cell: PhotoForms.Cell?) -> URL {
    var size = cell?.scaledSize(of: source) ?? source ?? PixelSize(longestSide, longestSide)
    if size.longerSide > longestSide {
      size = ImgixURL.serverSize(source: size, box: PixelSize(longestSide, longestSide), fit: .contain)
    }
    return picture.appending(path: "\(size.width)/\(size.height).jpg")
  }
}
