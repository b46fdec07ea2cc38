public import Foundation

/// Renders snapshots as a front end's own cells, with a renderer for each kind of cell.
public struct CellFactory<Output> {
  /// Renders a photo.
  public var photo: (GalleryItem) -> Output
  /// Renders a line of text.
  public var text: (_ text: String) -> Output
  /// Renders a title.
  public var header: (_ title: String, _ subtitle: String) -> Output
  /// Renders a loading indicator.
  public var loading: (_ text: String) -> Output
  /// Renders a message to the user.
  public var message: (_ reason: GalleryCell.Reason, _ text: String, _ canRetry: Bool) -> Output
  /// Renders the source of the photos.
  public var attribution: (_ text: String, _ url: URL?) -> Output

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
