/// One page of a search.
public struct PhotoPage: Equatable, Sendable {
  /// The photos, in the provider's order.
  public var photos: [Photo]
  /// Where the next page begins; nil after the last.
  public var next: PageCursor?
  /// How many photos match in all, where the provider tells.
  public var total: Int?
  /// What stood on the page but is no photo to be had.
  public var skipped: [SkippedItem]

  /// Puts a page together.
  public init(photos: [Photo], next: PageCursor?, total: Int? = nil, skipped: [SkippedItem] = []) {
    self.photos = photos
    self.next = next
    self.total = total.map { max(0, $0) }
    self.skipped = skipped
  }
}

/// Where a page begins, in words that only the provider understands. Can be stored and used again later.
public struct PageCursor: Hashable, Sendable, Codable {
  /// The provider's own mark.
  public let token: String

  /// A cursor for a provider's mark.
  public init(_ token: String) { self.token = token }
}

/// Something that was left out of a page, and why.
public struct SkippedItem: Hashable, Sendable {
  /// Where it stood: `line 7`, `item 3`, or a path.
  public var place: String
  /// What is wrong with it, and what to do where something can be done.
  public var reason: String

  /// Describes what was left out.
  public init(place: String, reason: String) {
    self.place = place
    self.reason = reason
  }

  /// Both in one line.
  public var message: String { "\(place): \(reason)" }

  /// The first of several in one line, and how many others there are; nil without any.
  public static func message(of items: [SkippedItem]) -> String? {
    items.first.map { items.count > 1 ? "\($0.message), and \(items.count - 1) more" : $0.message }
  }
}
