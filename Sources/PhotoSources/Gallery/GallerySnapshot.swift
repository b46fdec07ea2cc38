/// A gallery at one moment, as it is to be shown.
public struct GallerySnapshot: Equatable, Sendable {
  /// What there is to show.
  public let content: GalleryContent
  /// The same in sections of cells, as the view model lays it out.
  public let sections: [GallerySection]

  /// Puts a snapshot together.
  public init(content: GalleryContent, sections: [GallerySection]) {
    self.content = content
    self.sections = sections
  }

  /// Where the gallery stands.
  public var state: GalleryState { content.state }
  /// The photos.
  public var items: [GalleryItem] { content.items }
  /// Whether what is shown may be what is stored.
  public var isOffline: Bool { content.isOffline }
}
