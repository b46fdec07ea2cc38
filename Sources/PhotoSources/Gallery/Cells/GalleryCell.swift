public import Foundation

/// A cell of a gallery.
public enum GalleryCell: Identifiable, Equatable, Sendable {
  /// A photo.
  case photo(GalleryItem)
  /// A line of text. The name identifies it among other texts.
  case text(name: String, text: String)
  /// The title of the gallery, the number of photos and their source. The name identifies it among other headers.
  case header(name: String, title: String, subtitle: String)
  /// A loading indicator with its text.
  case loading(String)
  /// A message to the user about a problem and what to do, and whether a retry may help.
  case message(Reason, text: String, canRetry: Bool)
  /// The source of the photos, the licence if known, and the page with the terms.
  case attribution(text: String, url: URL?)

  /// The subject of a message.
  public enum Reason: String, Hashable, Sendable {
    /// There is nothing to show.
    case empty
    /// The source returned an error.
    case failed
    /// The source cannot be reached.
    case offline
  }

  /// Identifies a cell within a snapshot.
  public enum ID: Hashable, Sendable {
    /// The cell of a photo.
    case photo(GalleryItem.ID)
    /// Any other cell, by its kind and name.
    case named(String)
  }

  /// The id, the same in all snapshots.
  public var id: ID {
    switch self {
    case .photo(let item): .photo(item.id)
    case .text(let name, _): .named("text \(name)")
    case .header(let name, _, _): .named("header \(name)")
    case .loading: .named("loading")
    case .message(let reason, _, _): .named("message \(reason)")
    case .attribution(let text, _): .named("attribution \(text)")
    }
  }
}

/// Cells that belong together.
public struct GallerySection: Identifiable, Equatable, Sendable {
  /// Identifies the section within a snapshot.
  public var id: String
  /// The cells; their ids are distinct.
  public var cells: [GalleryCell]

  /// Puts a section together.
  public init(id: String, cells: [GalleryCell]) { (self.id, self.cells) = (id, cells) }
}

/// Renders snapshots as a front end's own cells, with a renderer for each kind of cell.
public struct CellFactory<Output> {
  /// Renders a photo.
  package var photo: (GalleryItem) -> Output
  /// Renders a line of text.
  package var text: (_ text: String) -> Output
  /// Renders a title.
  package var header: (_ title: String, _ subtitle: String) -> Output
  /// Renders a loading indicator.
  package var loading: (_ text: String) -> Output
  /// Renders a message to the user.
  package var message: (_ reason: GalleryCell.Reason, _ text: String, _ canRetry: Bool) -> Output
  /// Renders the source of the photos.
  package var attribution: (_ text: String, _ url: URL?) -> Output

  /// A factory with these renderers.
  public init(
    photo: @escaping (GalleryItem) -> Output, text: @escaping (_ text: String) -> Output,
    header: @escaping (_ title: String, _ subtitle: String) -> Output, loading: @escaping (_ text: String) -> Output,
    message: @escaping (_ reason: GalleryCell.Reason, _ text: String, _ canRetry: Bool) -> Output,
    attribution: @escaping (_ text: String, _ url: URL?) -> Output
  ) {
    (self.photo, self.text, self.header) = (photo, text, header)
    (self.loading, self.message, self.attribution) = (loading, message, attribution)
  }

  /// Renders a cell.
  public func render(_ cell: GalleryCell) -> Output {
    switch cell {
    case .photo(let item): photo(item)
    case .text(_, let content): text(content)
    case .header(_, let title, let subtitle): header(title, subtitle)
    case .loading(let content): loading(content)
    case .message(let reason, let content, let canRetry): message(reason, content, canRetry)
    case .attribution(let content, let url): attribution(content, url)
    }
  }

  /// Renders all cells of a snapshot, section by section, with the ids of the sections.
  public func render(_ snapshot: GallerySnapshot) -> [(id: String, cells: [Output])] {
    snapshot.sections.map { ($0.id, $0.cells.map(render)) }
  }
}
