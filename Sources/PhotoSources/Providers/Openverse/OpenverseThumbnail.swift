import Foundation
import ThumbnailCore

/// The only thumbnail that Openverse makes of a photo, and the original on another server.
struct OpenverseThumbnail {
  /// The largest width of the thumbnail, in pixels; photos are not upscaled.
  static let width = 600

  /// The thumbnail.
  let url: URL
  /// The original.
  let original: URL

  /// The URLs to try, in order. Openverse's thumbnail fails with status 424 if its proxy cannot fetch the photo, even
  /// when the original is available.
  func urls(ofSize size: PixelSize?, for cell: PhotoForms.Cell?) -> [URL] {
    guard let cell, url != original else { return [original] }
    let isEnough = cell.scaledSize(of: size).width <= Self.width || size.map { $0.width <= Self.width } ?? false
    return isEnough ? [url, original] : [original]
  }
}
