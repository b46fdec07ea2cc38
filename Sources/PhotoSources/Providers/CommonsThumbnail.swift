import Foundation
import ThumbnailCore

/// The thumbnails that Wikimedia Commons offers of a file.
///
/// Only the widths in `steps` are served; others are refused. The URLs differ only in the width before `px-` at the end
/// of the path; no other part of them is assumed.
struct CommonsThumbnail {
  /// The available widths, in pixels.
  static let steps = [20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840]

  /// The thumbnail URL in the API's response.
  let url: URL
  /// The URL of the original file.
  let original: URL

  /// The URLs to try, in order. The original comes first only if no thumbnail is large enough, with the largest
  /// thumbnail as its fallback, since Commons may refuse originals to programs.
  func urls(ofSize size: PixelSize?, for cell: PhotoForms.Cell?) -> [URL] {
    let width = size?.width ?? .max
    let smaller = Self.steps.filter { $0 < width }
    let wanted = cell.map { $0.scaledSize(of: size).width }
    if let wanted, let step = smaller.first(where: { $0 >= wanted }), let thumbnail = thumbnail(ofWidth: step) {
      let isEnough = namedWidth.map { $0 >= wanted } ?? false
      return thumbnail != url && isEnough ? [thumbnail, url, original] : [thumbnail, original]
    }
    return [original] + [smaller.last.flatMap(thumbnail(ofWidth:))].compactMap { $0 }
  }

  /// The width in the URL of the API's response.
  private var namedWidth: Int? { widthRange(in: url.absoluteString).flatMap { Int(url.absoluteString[$0]) } }

  private func thumbnail(ofWidth width: Int) -> URL? {
    var text = url.absoluteString
    // A file smaller than the requested thumbnail has none.
    guard url != original, let range = widthRange(in: text) else { return nil }
    if text[range] == "\(width)" { return url }
    text.replaceSubrange(range, with: "\(width)")
    return URL(string: text)
  }

  /// The range of the width: the digits before the first `px-` of the last path component.
  private func widthRange(in text: String) -> Range<String.Index>? {
    let path = text.prefix { $0 != "?" && $0 != "#" }
    let name = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
    guard let unit = name.firstRange(of: "px-") else { return nil }
    let digits = name[..<unit.lowerBound].reversed().prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty else { return nil }
    return name.index(unit.lowerBound, offsetBy: -digits.count)..<unit.lowerBound
  }
}
