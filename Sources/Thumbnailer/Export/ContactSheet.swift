import Foundation

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
    body { margin: 1rem; font: 14px/1.4 sans-serif; color: #222; background: #eee; }
    main { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 12px; }
    figure { margin: 0; padding: 8px; background: #fff; overflow-wrap: anywhere; }
    .box { display: flex; align-items: center; justify-content: center; height: 200px; }
    img { max-width: 100%; max-height: 100%; }
    figcaption { text-align: center; }
    figcaption span { color: #777; }
    figure.failed { display: flex; align-items: center; justify-content: center; outline: 2px solid #b00; }
    .failed, p .failed { color: #b00; }
    footer { margin-top: 1rem; text-align: center; }
    </style>
    </head>
    <body>
    <main>

    """
  }

  /// The figure of one picture.
  public static func figure(_ cell: SheetCell) -> String {
    let name = "<bdi>\(HTMLMarkup.escaped(cell.name))</bdi>"
    var lines = [link(name, to: cell.url)]
    if let failure = cell.failure { lines.append("<span class=\"failed\">\(HTMLMarkup.escaped(failure))</span>") }
    lines += cell.pictures.map(line)
    if let source = cell.source { lines.append("<span>\(description(source))</span>") }
    if let credit = credit(cell) { lines.append(credit) }
    let caption = "<figcaption>\(lines.joined(separator: "<br>"))</figcaption>"
    let begin = cell.failure == nil ? "<figure>" : "<figure class=\"failed\">"
    guard let first = cell.pictures.first else { return "\(begin)\(caption)</figure>\n" }
    let image = "<img loading=\"lazy\" src=\"\(address(first))\" alt=\"\(HTMLMarkup.escaped(cell.name))\">"
    return "\(begin)<div><div class=\"box\">\(image)</div>\(caption)</div></figure>\n"
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
    let bytes = picture.byteCount.map { "<span>, \(ByteSize(bytes: $0))</span>" } ?? ""
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

extension ImageFormat {
  /// What the format is called on the web.
  var mediaType: String {
    switch self {
    case .svg: "image/svg+xml"
    case .pdf: "application/pdf"
    case .openEXR: "image/x-exr"
    case .pnm: "image/x-portable-anymap"
    case .ico: "image/vnd.microsoft.icon"
    case .radiance: "image/vnd.radiance"
    default: "image/\(rawValue)"
    }
  }
}
