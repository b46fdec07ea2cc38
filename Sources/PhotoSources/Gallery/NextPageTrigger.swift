/// When a gallery asks for its next page.
public enum NextPageTrigger: Hashable, Sendable {
  /// When one of the last so many photos is in view.
  case itemsBeforeEnd(Int)
  /// When what stands behind the last photo is in view, such as a spinner.
  case endInView
  /// When the end is less than so many pixels below what is in view.
  case pixelsToEnd(Int)
  /// When less than so many pages of photos lie behind the last one in view.
  case pagesAhead(Int)

  /// One of the last six photos is in view.
  public static let standard = itemsBeforeEnd(6)

  /// Whether the next page is wanted.
  func fires(at viewport: GalleryViewport, itemCount: Int, pageSize: Int) -> Bool {
    switch self {
    case .itemsBeforeEnd(let count):
      guard let last = viewport.lastVisibleItem else { return false }
      return last >= itemCount - max(1, count)
    case .endInView:
      return viewport.showsEnd
    case .pixelsToEnd(let pixels):
      guard let distance = viewport.pixelsToEnd else { return false }
      return distance < pixels
    case .pagesAhead(let pages):
      guard let last = viewport.lastVisibleItem else { return false }
      return (itemCount - 1 - max(-1, last)) / pageSize < max(1, pages)
    }
  }
}

/// What a front end can tell about where it is in a gallery. It tells what the gallery's trigger needs, the rest is nil.
public struct GalleryViewport: Hashable, Sendable {
  /// The number of the last photo in view, counted from 0 over all photos of the snapshot.
  public var lastVisibleItem: Int?
  /// The distance from the lower edge of the view to the end of what there is, in pixels.
  public var pixelsToEnd: Int?
  /// Whether what stands behind the last photo is in view.
  public var showsEnd: Bool

  /// Describes a place.
  public init(lastVisibleItem: Int? = nil, pixelsToEnd: Int? = nil, showsEnd: Bool = false) {
    self.lastVisibleItem = lastVisibleItem
    self.pixelsToEnd = pixelsToEnd
    self.showsEnd = showsEnd
  }
}
