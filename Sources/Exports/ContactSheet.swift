import Foundation
import ThumbnailCore

/// A page with thumbnails, what they are and where they come from, and in red what failed.
///
/// The page is text that is written piece by piece: `head`, then a figure for each picture as it is done, then the foot.
/// So its length is no burden on memory. Thumbnails that are embedded stand in it as `data:` URLs: the page is one file
/// that can be sent. Nothing that comes from a picture or its source can become anything but text in it, and the page
/// runs no scripts and tells no other page where it is.
public enum ContactSheet {
  /// A remark under the figures.
  public struct Remark: Sendable {
    /// What is said.
    public var text: String
    /// Whether it is said in red.
    public var isFailure: Bool

    /// A remark, in red where it tells of a failure.
    public init(_ text: String, isFailure: Bool = false) { (self.text, self.isFailure) = (text, isFailure) }
  }

  /// What the page begins with.
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

  /// The figure of one picture: the thumbnail, or in its place why there is none; and under it all that is known of it.
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

  /// A thumbnail's size and length; a link, where the thumbnail has a file.
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

  /// Text that is markup already, as a link where there is somewhere to go.
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
