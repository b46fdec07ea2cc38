import Exports
public import Foundation
public import ThumbnailCore

/// Renders a gallery as HTML: one `section` element that can be embedded in any page.
///
/// All text is escaped, and only `http` and `https` URLs become links, and the files of photos that are files. The `src`
/// of an image is the URL of the smallest form on its server that fills a cell, unless `imageURL` returns another.
public struct HTMLGallery {
  /// Renders the cells. Its renderers can be replaced.
  public var factory = CellFactory<String>()

  /// A renderer for all kinds of cells.
  ///
  /// - Parameters:
  ///   - cell: The size of a photo's cell, in device pixels.
  ///   - imageURL: The URL of a photo's image; nil leaves the image out. By default the one at its source.
  ///   - colour: What a photo's cell shows until its image is there. By default the colour of all empty cells.
  public init(
    cell: PixelSize = PixelSize(400, 400), imageURL: (@Sendable (GalleryItem) -> URL?)? = nil,
    colour: @escaping @Sendable (GalleryItem) -> RGBColor? = { _ in nil }
  ) {
    let address = imageURL ?? { $0.photo.source(for: cell, fit: .cover).url }
    factory.register(.photo) { Self.figure($0, at: address($0), colour($0)) }
    factory.register(.text) { "<p>\(HTMLPage.escaped($0.text))</p>" }
    factory.register(.header) { header in
      "<header><h1>\(HTMLPage.escaped(header.title))</h1><p>\(HTMLPage.escaped(header.subtitle))</p></header>"
    }
    factory.register(.loading) { "<p class=\"loading\" role=\"status\">\(HTMLPage.escaped($0.text)) …</p>" }
    factory.register(.message) { message in
      "<p class=\"message \(message.reason.rawValue)\" role=\"alert\">\(HTMLPage.escaped(message.text))</p>"
    }
    factory.register(.attribution) { attribution in
      "<p class=\"attribution\">\(HTMLPage.link(HTMLPage.escaped(attribution.text), to: attribution.url))</p>"
    }
  }

  /// Renders the snapshot as a `section` element with a `div` for each section of the snapshot.
  public func render(_ snapshot: GallerySnapshot) throws(CellFactory<String>.Failure) -> String {
    var text = "<section class=\"gallery\">\n"
    for section in try factory.render(snapshot) {
      text += "<div class=\"\(HTMLPage.escaped(section.id))\">\n"
      for cell in section.cells { text += cell + "\n" }
      text += "</div>\n"
    }
    return text + "</section>\n"
  }

  /// Renders the snapshot as a complete HTML page.
  public func page(_ snapshot: GallerySnapshot) throws(CellFactory<String>.Failure) -> String {
    let query = snapshot.content.query ?? ""
    return HTMLPage.head(title: query.isEmpty ? "Pictures" : query) + (try render(snapshot)) + HTMLPage.end
  }

  private static func figure(_ item: GalleryItem, at address: URL?, _ colour: RGBColor?) -> String {
    let photo = item.photo
    let title = photo.title ?? ""
    let source = photo.source(for: PixelSize(1, 1), fit: .cover)
    let file = source.isUserFile ? source.url : nil
    var box = ""
    if let address, ["http", "https", "file", "data"].contains(address.scheme?.lowercased()) {
      let image = HTMLPage.image(address.absoluteString, title: title)
      box = file.map { HTMLPage.link(image, toFile: $0) } ?? HTMLPage.link(image, to: photo.pageURL)
    }
    let credit = HTMLPage.credit(
      photo.attribution ?? photo.author, photo.authorURL ?? photo.pageURL, licence: photo.licence?.name,
      photo.licence?.url)
    let folder = file.map { HTMLPage.note($0.deletingLastPathComponent().lastPathComponent) }
    let lines = [title.isEmpty ? nil : HTMLPage.title(title), folder, credit].compactMap(\.self)
    return HTMLPage.figure(id: "photo-\(item.id)", box: box, colour: colour, caption: lines)
  }
}
