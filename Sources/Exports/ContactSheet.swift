import Foundation
import ThumbnailCore

/// An HTML page of thumbnails with their metadata and sources, and failures in red.
///
/// The page is written incrementally: `head`, then a figure for each image as it is finished, then the foot, so memory
/// does not grow with its length. Its thumbnails are `data:` URLs, so the page is a single file that can be sent.
/// Untrusted text is escaped, and the page allows no scripts and sends no referrer.
package enum ContactSheet {
  /// What each sheet begins with, and hardly another page.
  package static let start = HTMLPage.head(title: "").components(separatedBy: "<title>")[0]

  /// The start of the page.
  package static func head(title: String = "Contact sheet") -> String {
    HTMLPage.head(title: title) + HTMLPage.heading(title) + "<main>\n"
  }

  /// The figure of one image: the thumbnail, or the reason why there is none, and the metadata below it.
  package static func figure(_ cell: SheetCell) -> String {
    var lines = [HTMLPage.title(cell.name, link: cell.url)]
    let failure = cell.failure.map(HTMLPage.escaped)
    var box = failure.map { "<p class=\"failed\">\($0)</p>" }
    if let shown = cell.pictures.first {
      box = HTMLPage.image(HTMLPage.dataURL(shown.data, type: shown.format.mediaType), title: cell.name)
      lines += failure.map { ["<span class=\"failed\">\($0)</span>"] } ?? []
    }
    lines += cell.pictures.map {
      "<span>\($0.size.width)×\($0.size.height), \(ByteSize(bytes: $0.data.count))</span>"
    }
    if let source = cell.source { lines.append("<small>\(description(source))</small>") }
    if let credit = HTMLPage.credit(
      cell.attribution ?? cell.author, cell.authorURL, licence: cell.licence, cell.licenceURL)
    {
      lines.append(credit)
    }
    return HTMLPage.figure(
      box: box, colour: cell.pictures.first?.placeholder?.colour, caption: lines, isFailure: cell.failure != nil) + "\n"
  }

  /// The end of the page, with the numbers of images and of those that failed.
  package static func foot(images: Int, failed: Int) -> String {
    let pictures = "\(images) picture\(images == 1 ? "" : "s"), "
    let failures = failed > 0 ? "<span class=\"failed\">\(failed) failed</span>" : "0 failed"
    return "</main>\n<footer><p>\(pictures)\(failures)</p></footer>\n" + HTMLPage.end
  }

  private static func description(_ source: SourceDescription) -> String {
    "of \(source.size.width)×\(source.size.height) \(source.format.displayName), \(ByteSize(bytes: source.byteCount))"
  }
}
