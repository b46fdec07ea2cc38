public import Foundation

/// The kinds of cells.
public enum CellKind: String, Hashable, Sendable, CaseIterable {
  /// A photo.
  case photo
  /// A line of text.
  case text
  /// A title.
  case header
  /// A loading indicator.
  case loading
  /// A message to the user, such as an error.
  case message
  /// The source of the photos and the terms of their use.
  case attribution
}

/// A cell of a gallery.
public enum GalleryCell: Identifiable, Equatable, Sendable {
  /// A photo.
  case photo(GalleryItem)
  /// A line of text.
  case text(TextContent)
  /// A title.
  case header(HeaderContent)
  /// A loading indicator.
  case loading(LoadingContent)
  /// A message to the user.
  case message(MessageContent)
  /// The source of the photos.
  case attribution(AttributionContent)

  /// Identifies a cell within a snapshot.
  public enum ID: Hashable, Sendable {
    /// The cell of a photo.
    case photo(GalleryItem.ID)
    /// Any other cell, by its kind and its content's name.
    case named(CellKind, String)
  }

  /// A line of text.
  public struct TextContent: Hashable, Sendable {
    /// The id among the text cells.
    public var name: String
    /// The text.
    public var text: String
    /// Makes a text.
    public init(name: String, text: String) { (self.name, self.text) = (name, text) }
  }

  /// A title.
  public struct HeaderContent: Hashable, Sendable {
    /// The id among the header cells.
    public var name: String
    /// What the gallery shows.
    public var title: String
    /// The number of photos and their source.
    public var subtitle: String
    /// Makes a title.
    public init(name: String, title: String, subtitle: String) {
      (self.name, self.title, self.subtitle) = (name, title, subtitle)
    }
  }

  /// A loading indicator.
  public struct LoadingContent: Hashable, Sendable {
    /// What is being loaded.
    public var text: String
    /// Makes a loading indicator.
    public init(text: String) { self.text = text }
  }

  /// A message to the user.
  public struct MessageContent: Hashable, Sendable {
    /// The subject of a message.
    public enum Reason: String, Hashable, Sendable {
      /// There is nothing to show.
      case empty
      /// The source returned an error.
      case failed
      /// The source cannot be reached.
      case offline
    }
    /// The subject.
    public var reason: Reason
    /// What happened and what to do.
    public var text: String
    /// Whether a retry may help.
    public var canRetry: Bool
    /// Makes a message.
    public init(reason: Reason, text: String, canRetry: Bool) {
      (self.reason, self.text, self.canRetry) = (reason, text, canRetry)
    }
  }

  /// The source of the photos.
  public struct AttributionContent: Hashable, Sendable {
    /// The source, and the licence if known.
    public var text: String
    /// The page with the terms.
    public var url: URL?
    /// Makes an attribution.
    public init(text: String, url: URL?) { (self.text, self.url) = (text, url) }
  }

  /// The kind of the cell.
  public var kind: CellKind {
    switch self {
    case .photo: .photo
    case .text: .text
    case .header: .header
    case .loading: .loading
    case .message: .message
    case .attribution: .attribution
    }
  }

  /// The id, the same in all snapshots.
  public var id: ID {
    switch self {
    case .photo(let item): .photo(item.id)
    case .text(let content): .named(.text, content.name)
    case .header(let content): .named(.header, content.name)
    case .loading: .named(.loading, "")
    case .message(let content): .named(.message, content.reason.rawValue)
    case .attribution(let content): .named(.attribution, content.text)
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
  public init(id: String, cells: [GalleryCell]) {
    self.id = id
    self.cells = cells
  }
}
