/// Renders snapshots as a front end's own cells, with a registered renderer for each kind of cell.
///
///     var factory = CellFactory<String>()
///     factory.register(.photo) { $0.photo.title ?? "" }
///     factory.register(.header) { "# \($0.title)" }
///     let sections = try factory.render(snapshot)
public struct CellFactory<Output> {
  /// The error of `render`.
  public enum Failure: Error, Hashable, CustomStringConvertible {
    /// No renderer was registered for the kind.
    case unregistered(CellKind)

    /// The kind's name, and how to register a renderer.
    public var description: String {
      switch self {
      case .unregistered(let kind): "no renderer is registered for cells of the kind \(kind.rawValue); register one"
      }
    }
  }

  /// A section with rendered cells.
  public struct Section: Identifiable {
    /// The id of the section of the snapshot.
    public let id: String
    /// The cells, in their order.
    public let cells: [Output]
  }

  private var renderers: [CellKind: (GalleryCell) -> Output?] = [:]

  /// A factory without renderers.
  public init() {}

  /// Registers the renderer for a kind of cell, replacing any earlier one.
  public mutating func register<Content>(_ type: CellType<Content>, _ render: @escaping (Content) -> Output) {
    renderers[type.kind] = { type.content($0).map(render) }
  }

  /// Renders a cell.
  ///
  /// - Throws: `unregistered` with the cell's kind.
  public func render(_ cell: GalleryCell) throws(Failure) -> Output {
    guard let output = renderers[cell.kind]?(cell) else { throw .unregistered(cell.kind) }
    return output
  }

  /// Renders all cells of a snapshot, section by section.
  ///
  /// - Throws: `unregistered` with the first kind that has no renderer.
  public func render(_ snapshot: GallerySnapshot) throws(Failure) -> [Section] {
    var sections: [Section] = []
    for section in snapshot.sections {
      var cells: [Output] = []
      cells.reserveCapacity(section.cells.count)
      for cell in section.cells { cells.append(try render(cell)) }
      sections.append(Section(id: section.id, cells: cells))
    }
    return sections
  }
}

/// A kind of cell together with the type of its content.
public struct CellType<Content>: Sendable {
  let kind: CellKind
  let content: @Sendable (GalleryCell) -> Content?
}

extension CellType where Content == GalleryItem {
  /// Photos.
  public static var photo: Self { Self(kind: .photo) { if case .photo(let item) = $0 { item } else { nil } } }
}

extension CellType where Content == GalleryCell.TextContent {
  /// Lines of text.
  public static var text: Self { Self(kind: .text) { if case .text(let text) = $0 { text } else { nil } } }
}

extension CellType where Content == GalleryCell.HeaderContent {
  /// Titles.
  public static var header: Self { Self(kind: .header) { if case .header(let header) = $0 { header } else { nil } } }
}

extension CellType where Content == GalleryCell.LoadingContent {
  /// Loading indicators.
  public static var loading: Self {
    Self(kind: .loading) { if case .loading(let loading) = $0 { loading } else { nil } }
  }
}

extension CellType where Content == GalleryCell.MessageContent {
  /// Messages.
  public static var message: Self {
    Self(kind: .message) { if case .message(let message) = $0 { message } else { nil } }
  }
}

extension CellType where Content == GalleryCell.AttributionContent {
  /// Attributions.
  public static var attribution: Self {
    Self(kind: .attribution) { if case .attribution(let attribution) = $0 { attribution } else { nil } }
  }
}
