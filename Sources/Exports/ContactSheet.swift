import Foundation
import ThumbnailCore

/// An HTML page of thumbnails with their metadata and sources, and failures in red.
///
/// The page is written incrementally: `head`, then a figure for each image as it is finished, then the foot, so memory
/// does not grow with its length. Embedded thumbnails are `data:` URLs, which makes the page a single file that can be
/// sent. Untrusted text is escaped, and the page allows no scripts and sends no referrer.
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
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <meta http-equiv="Content-Security-Policy" content="script-src 'none'; object-src 'none'; frame-src 'none'">
    <title>\(HTMLMarkup.escaped(title))</title>
    <style>
    :root { color-scheme: light dark; --ground: #eceef0; --card: #fff; --box: #f6f7f8; --ink: #1f2328; --soft: #6a737d;
      --red: #b3261e; --tile: #dde0e3; }
    @media (prefers-color-scheme: dark) { :root { --ground: #16181b; --card: #23262a; --box: #1c1f22; --ink: #e6e8ea;
      --soft: #9aa3ab; --red: #ff8a80; --tile: #3a3f45; } }
    body { margin: 0 auto; max-width: 1800px; padding: 20px; font: 14px/1.45 system-ui, sans-serif; color: var(--ink);
      background: var(--ground); }
    h1 { margin: 0 0 16px; font-size: 20px; font-weight: 600; overflow-wrap: anywhere; }
    main { display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 16px; }
    figure { margin: 0; overflow: hidden; border-radius: 8px; background: var(--card); box-shadow: 0 1px 3px #0003; }
    .box { display: flex; align-items: center; justify-content: center; height: 200px; background: var(--box); }
    .box p { margin: 0; padding: 0 16px; max-height: 100%; overflow: auto; overflow-wrap: anywhere; }
    img { max-width: 100%; max-height: 100%; background: repeating-conic-gradient(var(--tile) 0 25%, #fff0 0 50%) 0/16px 16px; }
    figcaption { padding: 10px 12px 12px; overflow-wrap: anywhere; }
    figcaption > * { display: block; }
    strong { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; font-weight: 600; }
    a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: 2px; }
    small { font-size: 12.5px; color: var(--soft); }
    figure.failed { box-shadow: inset 0 0 0 2px var(--red); }
    figure.failed .box { background: none; }
    p.failed, span.failed, .failed strong { color: var(--red); }
    footer { margin-top: 16px; color: var(--soft); }
    </style>
    </head>
    <body>
    <h1><bdi>\(HTMLMarkup.escaped(title))</bdi></h1>
    <main>

    """
  }

  /// The figure of one image: the thumbnail, or why there is none, and the metadata below it.
  public static func figure(_ cell: SheetCell) -> String {
    let name = HTMLMarkup.escaped(cell.name)
    var lines = ["<strong title=\"\(name)\">\(link("<bdi>\(name)</bdi>", to: cell.url))</strong>"]
    let failure = cell.failure.map(HTMLMarkup.escaped)
    var box = failure.map { "<p class=\"failed\">\($0)</p>" }
    if let first = cell.pictures.first {
      box = "<img loading=\"lazy\" src=\"\(address(first))\" alt=\"\(name)\">"
      lines += failure.map { ["<span class=\"failed\">\($0)</span>"] } ?? []
    }
    lines += cell.pictures.map { "<span>\(line($0))</span>" }
    if let source = cell.source { lines.append("<small>\(description(source))</small>") }
    if let credit = credit(cell) { lines.append("<small>\(credit)</small>") }
    return (cell.failure == nil ? "<figure>" : "<figure class=\"failed\">")
      + (box.map { "<div class=\"box\">\($0)</div>" } ?? "") + "<figcaption>\(lines.joined())</figcaption></figure>\n"
  }

  /// The end of the page.
  public static func foot(_ remarks: [Remark]) -> String {
    let texts = remarks.map { remark in
      remark.isFailure
        ? "<span class=\"failed\">\(HTMLMarkup.escaped(remark.text))</span>" : HTMLMarkup.escaped(remark.text)
    }
    return """
      </main>
      <footer><p>\(texts.joined(separator: ", "))</p></footer>
      </body>
      </html>

      """
  }

  /// The size and length of a thumbnail; a link if the thumbnail is a file.
  private static func line(_ picture: SheetCell.Picture) -> String {
    let size = picture.size.map { "\($0.width)×\($0.height)" } ?? "thumbnail"
    let bytes = picture.byteCount.map { ", \(ByteSize(bytes: $0))" } ?? ""
    guard case .linked(let address) = picture.content else { return size + bytes }
    return "<a href=\"\(HTMLMarkup.escaped(address))\">\(size)</a>\(bytes)"
  }

  private static func description(_ source: SourceDescription) -> String {
    "of \(source.size.width)×\(source.size.height) \(source.format.displayName), \(ByteSize(bytes: source.byteCount))"
  }

  private static func credit(_ cell: SheetCell) -> String? {
    let author = (cell.attribution ?? cell.author).map {
      link("<bdi>\(HTMLMarkup.escaped($0))</bdi>", to: cell.authorURL)
    }
    let licence = cell.licence.map { link(HTMLMarkup.escaped($0), to: cell.licenceURL) }
    let parts = [author, licence].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// Markup, as a link if there is a URL.
  private static func link(_ markup: String, to url: URL?) -> String {
    SheetCell.address(url).map { "<a href=\"\(HTMLMarkup.escaped($0))\" rel=\"noreferrer\">\(markup)</a>" } ?? markup
  }

  private static func address(_ picture: SheetCell.Picture) -> String {
    switch picture.content {
    case .linked(let address): HTMLMarkup.escaped(address)
    case .embedded(let data, let format): "data:\(format.mediaType);base64,\(data.base64EncodedString())"
    }
  }
}
