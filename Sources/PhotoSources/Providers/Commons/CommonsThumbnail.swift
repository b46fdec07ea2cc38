import Foundation
import ThumbnailCore

/// The thumbnails that Wikimedia Commons has of a file.
///
/// Only the widths of `steps` are to be had; any other is refused. Their URLs differ in the width that stands before
/// `px-` at the end of the path, and nothing else is taken for granted about them.
struct CommonsThumbnail {
  /// The widths there are, in pixels.
  static let steps = [20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840]

  /// The thumbnail that the API named.
  let url: URL
  /// The file as it was uploaded.
  let original: URL

  /// Where the photo is to be had. The original comes first only if no thumbnail is large enough: Commons may turn away
  /// programs that ask for originals, and then its largest thumbnail stands in.
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

  /// The width of the thumbnail that the API named.
  private var namedWidth: Int? { widthRange(in: url.absoluteString).flatMap { Int(url.absoluteString[$0]) } }

  private func thumbnail(ofWidth width: Int) -> URL? {
    var text = url.absoluteString
    // What is smaller than the thumbnail that was asked for has none.
    guard url != original, let range = widthRange(in: text) else { return nil }
    if text[range] == "\(width)" { return url }
    text.replaceSubrange(range, with: "\(width)")
    return URL(string: text)
  }

  /// Where the width stands: in the last part of the path, in digits before the first `px-`.
  private func widthRange(in text: String) -> Range<String.Index>? {
    let path = text.prefix { $0 != "?" && $0 != "#" }
    let name = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
    guard let unit = name.firstRange(of: "px-") else { return nil }
    let digits = name[..<unit.lowerBound].reversed().prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty else { return nil }
    return name.index(unit.lowerBound, offsetBy: -digits.count)..<unit.lowerBound
  }
}
