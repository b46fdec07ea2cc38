/// One page of a search.
public struct PhotoPage: Equatable, Sendable {
  /// The photos, in the provider's order.
  public var photos: [Photo]
  /// The cursor of the next page; nil on the last.
  public var next: PageCursor?
  /// The total number of results, if the provider tells.
  public var total: Int?
  /// The unusable items of the page.
  public var skipped: [SkippedItem]

  /// Makes a page.
  public init(photos: [Photo], next: PageCursor?, total: Int? = nil, skipped: [SkippedItem] = []) {
    (self.photos, self.next, self.total, self.skipped) = (photos, next, total.map { max(0, $0) }, skipped)
  }
}

/// An opaque cursor of the provider's. Can be stored and used again later.
public struct PageCursor: Hashable, Sendable, Codable {
  /// The provider's token.
  public let token: String

  /// Makes a cursor.
  public init(_ token: String) { self.token = token }
}

/// An item that was left out of a page, and why.
public struct SkippedItem: Hashable, Sendable {
  /// The item's position: `line 7`, `item 3`, or a path.
  public var place: String
  /// Why it is unusable, and what to do about it, if anything.
  public var reason: String

  /// Makes a skipped item.
  public init(place: String, reason: String) { (self.place, self.reason) = (place, reason) }

  /// Both in one line.
  public var message: String { "\(place): \(reason)" }

  /// The first of several items in one line, with the number of others; nil if there are none.
  public static func message(of items: [SkippedItem]) -> String? {
    items.first.map { items.count > 1 ? "\($0.message), and \(items.count - 1) more" : $0.message }
  }
}
