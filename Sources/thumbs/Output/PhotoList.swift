import Foundation
import PhotoSources

/// The photos of a search as text for people: a heading, a line for each photo, and their sources.
struct PhotoList {
  let text: String

  init(_ content: GalleryContent) {
    let factory = CellFactory(
      photo: { Self.line($0.photo) }, text: { $0 }, header: { "\($0): \($1)" }, loading: { "\($0) …" },
      message: { _, text, _ in text }, attribution: { $0 + ($1.map { " <\($0.absoluteString)>" } ?? "") })
    let sections = StandardGalleryViewModel(hasNotices: false).sections(of: content)
    text = factory.render(GallerySnapshot(content: content, sections: sections)).map { section in
      section.cells.map(PlainText.line).joined(separator: "\n")
    }.joined(separator: "\n\n")
  }

  private static func line(_ photo: Photo) -> String {
    var parts = [photo.title.flatMap { $0.isEmpty ? nil : $0 } ?? photo.id]
    if let size = photo.size { parts.append("\(size.width) × \(size.height)") }
    if let thanks = photo.attribution ?? photo.author { parts.append(thanks) }
    if let page = photo.pageURL { parts.append("<\(page.absoluteString)>") }
    return "- " + parts.joined(separator: ", ")
  }
}
