import Exports
public import Foundation
public import ThumbnailCore

/// Renders a gallery as HTML: one `section` element that can be embedded in any page.
///
/// All text is escaped, and only `http` and `https` URLs become links. The `src` of an image is the URL of the smallest
/// form on its server that fills a cell, unless `imageURL` returns another.
public struct HTMLGallery {
  /// Renders the cells. Its renderers can be replaced.
  public var factory = CellFactory<String>()

  /// A renderer for all kinds of cells.
  ///
  /// - Parameters:
  ///   - cell: The size of a photo's cell, in device pixels.
  ///   - imageURL: The URL of a photo's image; nil leaves the image out. By default the one at its source.
  public init(cell: PixelSize = PixelSize(400, 400), imageURL: (@Sendable (GalleryItem) -> URL?)? = nil) {
    let address = imageURL ?? { $0.photo.source(for: cell, fit: .cover).url }
    factory.register(.photo) { Self.figure($0, at: address($0)) }
    factory.register(.text) { "<p>\(HTMLMarkup.escaped($0.text))</p>" }
    factory.register(.header) { header in
      "<header><h1>\(HTMLMarkup.escaped(header.title))</h1><p>\(HTMLMarkup.escaped(header.subtitle))</p></header>"
    }
    factory.register(.loading) { "<p class=\"loading\" role=\"status\">\(HTMLMarkup.escaped($0.text)) …</p>" }
    factory.register(.message) { message in
      "<p class=\"message \(message.reason.rawValue)\" role=\"alert\">\(HTMLMarkup.escaped(message.text))</p>"
    }
    factory.register(.attribution) { attribution in
      "<p class=\"attribution\">\(Self.link(HTMLMarkup.escaped(attribution.text), to: attribution.url))</p>"
    }
  }

  /// Renders the snapshot as a `section` element with a `div` for each section of the snapshot.
  public func render(_ snapshot: GallerySnapshot) throws(CellFactory<String>.Failure) -> String {
    var text = "<section class=\"gallery\">\n"
    for section in try factory.render(snapshot) {
      text += "<div class=\"\(HTMLMarkup.escaped(section.id))\">\n"
      for cell in section.cells { text += cell + "\n" }
      text += "</div>\n"
    }
    return text + "</section>\n"
  }

  /// Renders the snapshot as a complete HTML page.
  public func page(_ snapshot: GallerySnapshot) throws(CellFactory<String>.Failure) -> String {
    let query = snapshot.content.query ?? ""
    let section = try render(snapshot)
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(HTMLMarkup.escaped(query.isEmpty ? "Pictures" : query))</title>
      <style>
      body { margin: 1rem; font: 14px/1.4 sans-serif; color: #222; background: #eee; }
      .photos { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 12px; }
      figure { margin: 0; background: #fff; overflow-wrap: anywhere; }
      figure img { display: block; width: 100%; aspect-ratio: 1; object-fit: cover; background: #ddd; }
      figcaption { padding: 8px; }
      .message { padding: 8px; background: #fff3cd; }
      .message.failed { background: #f8d7da; }
      .attribution, header p { color: #666; }
      </style>
      </head>
      <body>
      \(section)</body>
      </html>

      """
  }

  private static func figure(_ item: GalleryItem, at address: URL?) -> String {
    let photo = item.photo
    let title = HTMLMarkup.escaped(photo.title ?? "")
    var text = "<figure id=\"\(HTMLMarkup.escaped("photo-\(item.id)"))\">"
    if let address, ["http", "https", "file", "data"].contains(address.scheme?.lowercased()) {
      let image = "<img src=\"\(HTMLMarkup.escaped(address.absoluteString))\" alt=\"\(title)\" loading=\"lazy\">"
      text += link(image, to: photo.pageURL)
    }
    var lines = title.isEmpty ? [] : [title]
    if let thanks = photo.attribution ?? photo.author {
      lines.append(link(HTMLMarkup.escaped(thanks), to: photo.authorURL ?? photo.pageURL))
    }
    if let licence = photo.licence { lines.append(link(HTMLMarkup.escaped(licence.name), to: licence.url)) }
    return text + (lines.isEmpty ? "" : "<figcaption>\(lines.joined(separator: "<br>"))</figcaption>") + "</figure>"
  }

  /// A link, if the URL is an `http` or `https` one.
  private static func link(_ html: String, to url: URL?) -> String {
    guard let url, ["http", "https"].contains(url.scheme?.lowercased()) else { return html }
    return "<a href=\"\(HTMLMarkup.escaped(url.absoluteString))\">\(html)</a>"
  }
}
