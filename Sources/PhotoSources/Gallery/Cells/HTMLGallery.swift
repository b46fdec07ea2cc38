import Exports
public import Foundation
public import ThumbnailCore

/// Renders a gallery as HTML: one `section` element that can be embedded in any page.
///
/// All text is escaped, and only `http` and `https` URLs become links, and the files of photos that are files. The `src`
/// of an image is the URL of the smallest form on its server that fills a cell, unless `imageURL` returns another.
public struct HTMLGallery {
  /// Renders the cells. Its renderers can be replaced.
  public var factory: CellFactory<String>

  /// A renderer for all kinds of cells.
  ///
  /// - Parameters:
  ///   - cell: The size of a photo's cell, in device pixels.
  ///   - imageURL: The URL of a photo's image; nil leaves the image out. By default the URL at its source.
  ///   - colour: The colour of a photo's cell until its image has loaded. By default the colour of all empty cells.
  public init(
    cell: PixelSize = PixelSize(400, 400), imageURL: (@Sendable (GalleryItem) -> URL?)? = nil,
    colour: @escaping @Sendable (GalleryItem) -> RGBColor? = { _ in nil }
  ) {
    let address = imageURL ?? { $0.photo.source(for: cell, fit: .cover).url }
    let escaped = HTMLPage.escaped
    factory = CellFactory(
      photo: { Self.figure($0, at: address($0), colour($0)) },
      text: { "<p>\(escaped($0))</p>" },
      header: { "<header><h1>\(escaped($0))</h1><p>\(escaped($1))</p></header>" },
      loading: { "<p class=\"loading\" role=\"status\">\(escaped($0)) …</p>" },
      message: { reason, text, _ in "<p class=\"message \(reason.rawValue)\" role=\"alert\">\(escaped(text))</p>" },
      attribution: { "<p class=\"attribution\">\(HTMLPage.link(escaped($0), to: $1))</p>" })
  }

  /// Renders the snapshot as a `section` element with a `div` for each section of the snapshot.
  public func render(_ snapshot: GallerySnapshot) -> String {
    var text = "<section class=\"gallery\">\n"
    for section in factory.render(snapshot) {
      text += "<div class=\"\(HTMLPage.escaped(section.id))\">\n"
      for cell in section.cells { text += cell + "\n" }
      text += "</div>\n"
    }
    return text + "</section>\n"
  }

  /// Renders the snapshot as a complete HTML page.
  public func page(_ snapshot: GallerySnapshot) -> String {
    let query = snapshot.content.query ?? ""
    return HTMLPage.head(title: query.isEmpty ? "Pictures" : query) + render(snapshot) + HTMLPage.end
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
