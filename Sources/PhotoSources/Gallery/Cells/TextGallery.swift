import Foundation
import ThumbnailCore

/// Renders a gallery as plain text, one line for each cell.
public struct TextGallery {
  /// Renders the cells. Its renderers can be replaced.
  public var factory: CellFactory<String>

  /// A renderer for all kinds of cells.
  public init() {
    factory = CellFactory(
      photo: { Self.line($0.photo) }, text: Self.plain, header: { "\(Self.plain($0)): \(Self.plain($1))" },
      loading: { "\(Self.plain($0)) …" }, message: { _, text, _ in Self.plain(text) },
      attribution: { Self.plain($0) + ($1.map { " <\($0.absoluteString)>" } ?? "") })
  }

  /// Renders the snapshot, one cell a line, with a blank line between sections. Ends with a newline, unless it is
  /// empty.
  public func render(_ snapshot: GallerySnapshot) -> String {
    let sections = factory.render(snapshot).map { $0.cells.joined(separator: "\n") }
    return sections.isEmpty ? "" : sections.joined(separator: "\n\n") + "\n"
  }

  private static func line(_ photo: Photo) -> String {
    var parts = [photo.title.flatMap { $0.isEmpty ? nil : $0 } ?? photo.id]
    if let size = photo.size { parts.append("\(size.width) × \(size.height)") }
    if let thanks = photo.attribution ?? photo.author { parts.append(thanks) }
    if let page = photo.pageURL { parts.append("<\(page.absoluteString)>") }
    return "- " + plain(parts.joined(separator: ", "))
  }

  /// The text on one line, without terminal control characters.
  private static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .lineSeparator, .paragraphSeparator: " "
          case .format where scalar != "\u{200D}" && scalar != "\u{200C}": " "
          default: scalar
          }
        }))
  }
}
