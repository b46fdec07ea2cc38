import Foundation
import ThumbnailCore

/// The one thumbnail that Openverse makes of a photo, and the original on somebody else's server.
struct OpenverseThumbnail {
  /// How wide the thumbnail is, in pixels; of a narrower photo, as wide as that.
  static let width = 600

  /// The thumbnail.
  let url: URL
  /// The photo as it was uploaded.
  let original: URL

  /// Where the photo is to be had. Openverse's thumbnail fails (status 424) when its own proxy gets nothing from the
  /// photo's server; the original may be there all the same.
  func urls(ofSize size: PixelSize?, for cell: PhotoForms.Cell?) -> [URL] {
    guard let cell, url != original else { return [original] }
    let isEnough = cell.scaledSize(of: size).width <= Self.width || size.map { $0.width <= Self.width } ?? false
    return isEnough ? [url, original] : [original]
  }
}
