import Foundation
import ThumbnailCore

/// The thumbnails that Wikimedia Commons offers of a file.
///
/// Only certain widths are served; others are refused. The URLs differ only in the width before `px-` at the end of the
/// path; no other part of them is assumed.
extension PhotoForms {
  /// The available widths, in pixels.
  private static let commonsWidths = [20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840]

  /// The URLs to try, in order. The original comes first only if no thumbnail is large enough, with the largest
  /// thumbnail as its fallback, since Commons may refuse originals to programs.
  func commonsURLs(ofSize size: PixelSize?, for cell: Cell?) -> [URL] {
    let original = original ?? url
    let smaller = Self.commonsWidths.filter { $0 < size?.width ?? .max }
    if let wanted = cell?.scaledSize(of: size).width, let width = smaller.first(where: { $0 >= wanted }),
      let thumbnail = commonsThumbnail(ofWidth: width)
    {
      let text = url.absoluteString
      let isEnough = Self.widthRange(in: text).flatMap { Int(text[$0]) }.map { $0 >= wanted } ?? false
      return thumbnail != url && isEnough ? [thumbnail, url, original] : [thumbnail, original]
    }
    return [original] + [smaller.last.flatMap(commonsThumbnail(ofWidth:))].compactMap(\.self)
  }

  private func commonsThumbnail(ofWidth width: Int) -> URL? {
    // A file smaller than the requested thumbnail has none.
    var text = url.absoluteString
    guard url != original, let range = Self.widthRange(in: text) else { return nil }
    text.replaceSubrange(range, with: "\(width)")
    return URL(string: text)
  }

  /// The range of the width: the digits before `px-` in the last path component.
  private static func widthRange(in text: String) -> Range<String.Index>? {
    let match = text.firstMatch(of: /^[^?#]*\/[^\/?#]*?([0-9]+)px-[^\/?#]*(?:[?#]|$)/)
    return match.map { $0.1.startIndex..<$0.1.endIndex }
  }
}
