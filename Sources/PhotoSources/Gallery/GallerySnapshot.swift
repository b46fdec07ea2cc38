/// An immutable snapshot of a gallery for display.
public struct GallerySnapshot: Equatable, Sendable {
  /// The content.
  public let content: GalleryContent
  /// The content in sections of cells, as laid out by the view model.
  public let sections: [GallerySection]

  /// Makes a snapshot.
  public init(content: GalleryContent, sections: [GallerySection]) {
    self.content = content
    self.sections = sections
  }

  /// The state of the gallery.
  public var state: GalleryState { content.state }
  /// The photos.
  public var items: [GalleryItem] { content.items }
  /// Whether the photos may come from the store.
  public var isOffline: Bool { content.isOffline }
}
