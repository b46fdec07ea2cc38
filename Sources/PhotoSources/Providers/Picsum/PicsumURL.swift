import Foundation
import ThumbnailCore

/// URLs of pictures at Lorem Picsum, which makes any size of them.
enum PicsumURL {
  /// The longest side that the server makes, in pixels.
  private static let longestSide = 5000

  /// The URL of a picture in the size that a cell needs, or in its own.
  ///
  /// The server crops what is not of the picture's own proportions, so these are kept.
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
