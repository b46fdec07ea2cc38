public import Foundation

/// The kinds of cells there are.
public enum CellKind: String, Hashable, Sendable, CaseIterable {
  /// A photo.
  case photo
  /// A line of text.
  case text
  /// A title.
  case header
  /// Something is on its way.
  case loading
  /// Something that whoever looks should know, such as an error.
  case message
  /// Whom to thank, and under which terms the photos may be used.
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
  /// Something is on its way.
  case loading(LoadingContent)
  /// Something that whoever looks should know.
  case message(MessageContent)
  /// Whom to thank.
  case attribution(AttributionContent)

  /// Tells a cell from all others of a snapshot.
  public enum ID: Hashable, Sendable {
    /// The cell of a photo.
    case photo(GalleryItem.ID)
    /// Another cell, by the name that its kind has it under.
    case named(CellKind, String)
  }

  /// A line of text.
  public struct TextContent: Hashable, Sendable {
    /// Tells it from other texts.
    public var name: String
    /// The text.
    public var text: String
    /// Makes a text.
    public init(name: String, text: String) { (self.name, self.text) = (name, text) }
  }

  /// A title.
  public struct HeaderContent: Hashable, Sendable {
    /// Tells it from other headers.
    public var name: String
    /// What the gallery shows.
    public var title: String
    /// How much of it, and from where.
    public var subtitle: String
    /// Makes a title.
    public init(name: String, title: String, subtitle: String) {
      (self.name, self.title, self.subtitle) = (name, title, subtitle)
    }
  }

  /// Something is on its way.
  public struct LoadingContent: Hashable, Sendable {
    /// What.
    public var text: String
    /// Makes a sign that something is on its way.
    public init(text: String) { self.text = text }
  }

  /// Something that whoever looks should know.
  public struct MessageContent: Hashable, Sendable {
    /// What it is about.
    public enum Reason: String, Hashable, Sendable {
      /// There is nothing to show.
      case empty
      /// The source gave an error.
      case failed
      /// The source cannot be reached.
      case offline
    }
    /// What it is about.
    public var reason: Reason
    /// What happened and what to do.
    public var text: String
    /// Whether asking again may help.
    public var canRetry: Bool
    /// Makes a message.
    public init(reason: Reason, text: String, canRetry: Bool) {
      (self.reason, self.text, self.canRetry) = (reason, text, canRetry)
    }
  }

  /// Whom to thank.
  public struct AttributionContent: Hashable, Sendable {
    /// The source, and the terms where it names them.
    public var text: String
    /// Where the terms can be read.
    public var url: URL?
    /// Makes an attribution.
    public init(text: String, url: URL?) { (self.text, self.url) = (text, url) }
  }

  /// Which of the kinds it is.
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

  /// What the cell is known by, in this snapshot and the next ones.
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
  /// Tells the section from all others of a snapshot.
  public var id: String
  /// The cells, each with an id of its own.
  public var cells: [GalleryCell]

  /// Puts a section together.
  public init(id: String, cells: [GalleryCell]) {
    self.id = id
    self.cells = cells
  }
}
