import Exports
import ThumbnailCore

/// The names of a site's files. Pages and thumbnails lie in the tree of the source folder.
enum SiteNames {
  /// The folder of everything else: styles and scripts, and the copies of images.
  static let files = Array("site-files/".utf8)
  static let originals = files + Array("originals/".utf8)

  /// The name of a page of an album, of which the first has the number 1.
  static func page(_ number: Int) -> String { number == 1 ? "index.html" : "index-\(number).html" }

  /// The path with an underscore appended to each folder that is named like a page or like `files`, or like such a name
  /// with underscores. So different folders stay different, and none is in the place of a page.
  static func safe(_ path: [UInt8]) -> [UInt8] {
    let parts = path.split(separator: RawPath.slash, omittingEmptySubsequences: false)
    let folders = parts.dropLast().map { isReserved($0) ? $0 + [UInt8(ascii: "_")] : $0 }
    return Array((folders + parts.suffix(1)).joined(separator: [RawPath.slash]))
  }

  private static func isReserved(_ folder: ArraySlice<UInt8>) -> Bool {
    var name = folder.lowercasedASCII
    while name.last == UInt8(ascii: "_") { name.removeLast() }
    return name + [RawPath.slash] == files
      || name.starts(with: "index".utf8) && name.suffix(5).elementsEqual(".html".utf8)
  }
}
