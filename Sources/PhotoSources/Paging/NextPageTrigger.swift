/// When a gallery requests its next page.
public enum NextPageTrigger: Hashable, Sendable {
  /// When one of the last this many photos is in view.
  case itemsBeforeEnd(Int)
  /// When the element behind the last photo, such as a spinner, is in view.
  case endInView
  /// When the end of the list is less than this many pixels below the viewport.
  case pixelsToEnd(Int)
  /// When less than this many pages of photos lie behind the last visible one.
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

/// A front end's report of its viewport. It sets the values that the gallery's trigger needs and leaves the rest nil.
public struct GalleryViewport: Hashable, Sendable {
  /// The index of the last visible photo among all photos of the snapshot.
  public var lastVisibleItem: Int?
  /// The distance from the lower edge of the viewport to the end of the list, in pixels.
  public var pixelsToEnd: Int?
  /// Whether the element behind the last photo is in view.
  public var showsEnd: Bool

  /// Makes a viewport.
  public init(lastVisibleItem: Int? = nil, pixelsToEnd: Int? = nil, showsEnd: Bool = false) {
    (self.lastVisibleItem, self.pixelsToEnd, self.showsEnd) = (lastVisibleItem, pixelsToEnd, showsEnd)
  }
}
