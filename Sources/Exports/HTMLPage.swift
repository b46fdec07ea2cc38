package import Foundation

/// The parts of the HTML pages that this package writes. All pages share one stylesheet, and allow no scripts.
///
/// A page is `head`, an optional `heading`, the content, and `end`, so it can be written incrementally.
package enum HTMLPage {
  /// The beginning of a page, up to and including the opening tag of its body. The title is plain text.
  package static func head(title: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <meta http-equiv="Content-Security-Policy" content="script-src 'none'; object-src 'none'; frame-src 'none'">
    <title>\(escaped(title))</title>
    <style>
    \(stylesheet)
    </style>
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
  ///   - caption: The markup of the lines below it.
  package static func figure(
    id: String? = nil, box: String?, caption: [String], isFailure: Bool = false
  ) -> String {
    let id = id.map { " id=\"\(escaped($0))\"" } ?? ""
    let box = box.map { "<div class=\"box\">\($0)</div>" } ?? ""
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

  /// Markup as a link to a file of this computer.
  package static func link(_ markup: String, toFile file: URL) -> String {
    "<a href=\"\(escaped(file.absoluteString))\">\(markup)</a>"
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

  private static let stylesheet = """
    :root { color-scheme: light dark; --ground: #eceef0; --card: #fff; --box: #f6f7f8; --ink: #1f2328; --soft: #6a737d;
      --red: #b3261e; --tile: #dde0e3; --note: #fff3cd; --alert: #f8d7da; }
    @media (prefers-color-scheme: dark) { :root { --ground: #16181b; --card: #23262a; --box: #1c1f22; --ink: #e6e8ea;
      --soft: #9aa3ab; --red: #ff8a80; --tile: #3a3f45; --note: #4a3f1a; --alert: #4f2327; } }
    body { margin: 0 auto; max-width: 1800px; padding: 20px; font: 14px/1.45 system-ui, sans-serif; color: var(--ink);
      background: var(--ground); }
    h1 { margin: 0 0 16px; font-size: 20px; font-weight: 600; overflow-wrap: anywhere; }
    header p, footer, .attribution, th { color: var(--soft); }
    footer { margin-top: 16px; }
    main, .photos { display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 16px; }
    figure { margin: 0; overflow: hidden; border-radius: 8px; background: var(--card); box-shadow: 0 1px 3px #0003; }
    .box { display: flex; align-items: center; justify-content: center; height: 200px; background: var(--box); }
    .box p { margin: 0; padding: 0 16px; max-height: 100%; overflow: auto; overflow-wrap: anywhere; }
    img { max-width: 100%; max-height: 100%; background: repeating-conic-gradient(var(--tile) 0 25%, #fff0 0 50%) 0/16px 16px; }
    .photos .box, .photos .box a { display: block; height: auto; aspect-ratio: 1; }
    .photos img { display: block; width: 100%; height: 100%; object-fit: cover; background: var(--tile); }
    figcaption { padding: 10px 12px 12px; overflow-wrap: anywhere; }
    figcaption > * { display: block; }
    strong { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; font-weight: 600; }
    a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: 2px; }
    small { font-size: 12.5px; color: var(--soft); }
    figure.failed { box-shadow: inset 0 0 0 2px var(--red); }
    figure.failed .box { background: none; }
    p.failed, span.failed, .failed strong { color: var(--red); }
    p.message { padding: 8px 12px; border-radius: 8px; color: var(--ink); background: var(--note); }
    p.message.failed { background: var(--alert); }
    th { padding-right: 16px; font-weight: normal; text-align: left; }
    svg { box-sizing: border-box; max-width: 100%; height: auto; padding: 12px; border-radius: 8px; background: #fff; }
    .ready { color: #5b5; } .late { color: #d22; } .rest { color: #06c; }
    """
}
