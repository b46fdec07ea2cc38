import Foundation
import PhotoSources

/// The photos of a search as text for people: a heading, a line for each photo, and their sources.
struct PhotoList {
  let text: String

  init(_ content: GalleryContent) {
    let count = content.items.count
    let ofTotal = content.total.map { $0 > count ? " of \($0)" : "" } ?? ""
    let pictures = count == 1 && ofTotal.isEmpty ? "picture" : "pictures"
    let title = content.query.flatMap { $0.isEmpty ? nil : $0 } ?? "Pictures"
    let offline = content.isOffline ? ", offline" : ""
    let heading = "\(title): \(count)\(ofTotal) \(pictures) from \(content.provider)\(offline)"
    var foot: [String] = []
    if content.state == .loaded, !content.hasMore, !content.isOffline { foot.append("That is all") }
    if let skipped = SkippedItem.message(of: content.skipped) { foot.append("left out: \(skipped)") }
    for photo in content.items.map(\.photo) {
      let terms = photo.licence.map { ", \($0.name)" + ($0.url.map { " <\($0.absoluteString)>" } ?? "") } ?? ""
      let line = "Pictures from \(photo.provider)\(terms)"
      if foot.last != line, !foot.contains(line) { foot.append(line) }
    }
    text = [[heading], content.items.map { Self.line($0.photo) }, foot].map { lines in
      lines.map(PlainText.line).joined(separator: "\n")
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
