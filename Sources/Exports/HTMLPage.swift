import CLook
package import Foundation
package import ThumbnailCore

/// The parts of the HTML pages that this package writes. All pages share one stylesheet, which has the look of the
/// gallery's page, and allow no scripts.
///
/// A page is `head`, an optional `heading`, the content, and `end`, so it can be written incrementally.
package enum HTMLPage {
  /// The beginning of a page, up to and including the opening tag of its body.
  ///
  /// - Parameters:
  ///   - title: Plain text.
  ///   - policy: What the page may load and run (Content Security Policy).
  ///   - styles: The markup of its styles and scripts. Default: the stylesheet of single pages.
  package static func head(
    title: String, policy: String = "script-src 'none'; object-src 'none'; frame-src 'none'",
    styles: String = "<style>\n\(stylesheet)\n</style>"
  ) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <meta http-equiv="Content-Security-Policy" content="\(policy)">
    <title>\(escaped(title))</title>
    \(styles)
    </head>
    <body>

    """
  }

  /// A main heading of plain text.
  package static func heading(_ text: String) -> String { "<h1><bdi>\(escaped(text))</bdi></h1>\n" }

  /// The end of a page.
  package static let end = "</body>\n</html>\n"

  /// A cell of the grid, which is `main` or an element of the class `photos`.
  ///
  /// - Parameters:
  ///   - box: The markup of the image, or of the reason why there is none; nil for no box at all.
  ///   - colour: The colour of the box until the image has loaded.
  ///   - caption: The markup of the lines below it.
  package static func figure(
    id: String? = nil, box: String?, colour: RGBColor? = nil, caption: [String], isFailure: Bool = false
  ) -> String {
    let id = id.map { " id=\"\(escaped($0))\"" } ?? ""
    let tint = colour.map { " style=\"--tint:#\($0.hex)\"" } ?? ""
    let box = box.map { "<div class=\"cell\"\(tint)>\($0)</div>" } ?? ""
    let lines = caption.isEmpty ? "" : "<figcaption>\(caption.joined())</figcaption>"
    return "<figure\(id)\(isFailure ? " class=\"failed\"" : "")>\(box)\(lines)</figure>"
  }

  /// An image with its address and its title, which are plain text.
  package static func image(_ address: String, title: String) -> String {
    "<img loading=\"lazy\" src=\"\(escaped(address))\" alt=\"\(escaped(title))\">"
  }

  /// The first line of a caption, which is plain text.
  package static func title(_ text: String, link url: URL? = nil) -> String {
    let text = escaped(text)
    return "<strong title=\"\(text)\">\(link("<bdi>\(text)</bdi>", to: url))</strong>"
  }

  /// The last line of a caption: author and licence, as far as they are known. Nil if neither is.
  package static func credit(
    _ author: String?, _ authorURL: URL?, licence: String?, _ licenceURL: URL?
  ) -> String? {
    let parts = [
      author.map { link("<bdi>\(escaped($0))</bdi>", to: authorURL) },
      licence.map { link(escaped($0), to: licenceURL) },
    ].compactMap(\.self)
    return parts.isEmpty ? nil : "<small>\(parts.joined(separator: ", "))</small>"
  }

  /// Markup as a link, without user and password, if the URL is an `http` or `https` one. Any other URL is left out,
  /// above all `javascript:`.
  package static func link(_ markup: String, to url: URL?) -> String {
    guard let url, ["http", "https"].contains(url.scheme?.lowercased() ?? ""),
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return markup }
    (parts.user, parts.password) = (nil, nil)
    return parts.string.map { "<a href=\"\(escaped($0))\" rel=\"noreferrer\">\(markup)</a>" } ?? markup
  }

  /// A smaller line of a caption, which is plain text.
  package static func note(_ text: String) -> String { "<small><bdi>\(escaped(text))</bdi></small>" }

  /// An image within the page: a `data:` URL.
  package static func dataURL(_ data: Data, type: String) -> String {
    "data:\(type);base64,\(data.base64EncodedString())"
  }

  /// The text escaped for element content and quoted attributes, without control and bidirectional formatting
  /// characters.
  package static func escaped(_ text: String) -> String {
    // The long `data:` URLs have nothing to escape.
    guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F || "&<>\"'".utf8.contains($0) }) else { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\0"..<" ", "\u{7F}"..<"\u{A0}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": escaped += " "
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// The styles of the gallery's page, and those of these pages.
  package static let stylesheet: String = {
    let embedded = look_of_sheets()
    return String(decoding: UnsafeBufferPointer(start: embedded.bytes, count: embedded.length), as: UTF8.self)
  }()
}
