import Foundation
import ThumbnailCore

/// An HTML page of thumbnails with their metadata and sources, and failures in red.
///
/// The page is written incrementally: `head`, then a figure for each image as it is finished, then the foot, so memory
/// does not grow with its length. Its thumbnails are `data:` URLs, so the page is a single file that can be sent.
/// Untrusted text is escaped, and the page allows no scripts and sends no referrer.
public enum ContactSheet {
  /// A remark below the figures.
  public struct Remark: Sendable {
    /// The text.
    public var text: String
    /// Whether it is shown in red.
    public var isFailure: Bool

    /// A remark, shown in red if it reports a failure.
    public init(_ text: String, isFailure: Bool = false) { (self.text, self.isFailure) = (text, isFailure) }
  }

  /// The start of the page.
  public static func head(title: String = "Contact sheet") -> String {
    HTMLPage.head(title: title) + HTMLPage.heading(title) + "<main>\n"
  }

  /// The figure of one image: the thumbnail, or the reason why there is none, and the metadata below it.
  public static func figure(_ cell: SheetCell) -> String {
    var lines = [HTMLPage.title(cell.name, link: cell.url)]
    let failure = cell.failure.map(HTMLPage.escaped)
    var box = failure.map { "<p class=\"failed\">\($0)</p>" }
    if let (data, format) = cell.pictures.first?.file {
      box = HTMLPage.image(HTMLPage.dataURL(data, type: format.mediaType), title: cell.name)
      lines += failure.map { ["<span class=\"failed\">\($0)</span>"] } ?? []
    }
    lines += cell.pictures.map { "<span>\(line($0))</span>" }
    if let source = cell.source { lines.append("<small>\(description(source))</small>") }
    if let credit = HTMLPage.credit(
      cell.attribution ?? cell.author, cell.authorURL, licence: cell.licence, cell.licenceURL)
    {
      lines.append(credit)
    }
    return HTMLPage.figure(
      box: box, colour: cell.pictures.first?.colour, caption: lines, isFailure: cell.failure != nil) + "\n"
  }

  /// The end of the page.
  public static func foot(_ remarks: [Remark]) -> String {
    let texts = remarks.map { remark in
      let text = HTMLPage.escaped(remark.text)
      return remark.isFailure ? "<span class=\"failed\">\(text)</span>" : text
    }
    return "</main>\n<footer><p>\(texts.joined(separator: ", "))</p></footer>\n" + HTMLPage.end
  }

  /// The size and length of a thumbnail.
  private static func line(_ picture: SheetCell.Picture) -> String {
    let size = picture.size.map { "\($0.width)×\($0.height)" } ?? "thumbnail"
    return size + (picture.byteCount.map { ", \(ByteSize(bytes: $0))" } ?? "")
  }

  private static func description(_ source: SourceDescription) -> String {
    "of \(source.size.width)×\(source.size.height) \(source.format.displayName), \(ByteSize(bytes: source.byteCount))"
  }
}
