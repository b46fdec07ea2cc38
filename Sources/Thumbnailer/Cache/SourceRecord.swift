public import Foundation

/// What the cache keeps about a picture besides its thumbnails.
public struct SourceRecord: Sendable, Equatable {
  /// What the picture is known by.
  public let key: SourceKey
  /// Where it came from, to show to people: without user, password, query and fragment, which may hold secrets, and at
  /// most 1024 characters long.
  public let location: String
  /// The host it came from; empty for a local file.
  public let host: String
  /// When its bytes were fetched. Nil when they were not, because a thumbnail was made from another: what is known of the
  /// source then stays as it is.
  public var fetchedAt: Date?
  /// The `ETag` of the answer.
  public let etag: String?
  /// The `Last-Modified` of the answer.
  public let lastModified: String?
  /// The `Cache-Control` of the answer.
  public let cacheControl: String?
  /// Its size in pixels, its format, and the length of its file.
  public var description: SourceDescription
  /// What its server said with the bytes, to ask it later whether they have changed.
  var answer: StoredAnswer?
  /// How long the thumbnails hold.
  var freshness = Freshness.lasting

  /// Describes a picture that was just fetched. Header values of more than 1024 bytes are not kept: cut short they would
  /// mean something else.
  public init(
    _ source: ImageSource, description: SourceDescription, fetchedAt: Date? = Date(), etag: String? = nil,
    lastModified: String? = nil, cacheControl: String? = nil
  ) {
    func reasonable(_ value: String?) -> String? { value.flatMap { $0.utf8.count <= 1024 ? $0 : nil } }
    key = source.key
    location = String(Self.presentable(source.url).prefix(1024))
    host = source.url.host ?? ""
    self.fetchedAt = fetchedAt
    self.etag = reasonable(etag)
    self.lastModified = reasonable(lastModified)
    self.cacheControl = reasonable(cacheControl)
    self.description = description
  }

  private static func presentable(_ url: URL) -> String {
    guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.scheme ?? "" }
    components.user = nil
    components.password = nil
    components.query = nil
    components.fragment = nil
    return components.string ?? url.scheme ?? ""
  }
}

/// One thumbnail of a picture on its way into the cache.
public struct CacheEntry: Sendable, Equatable {
  /// Which thumbnail it is.
  public var variant: Variant
  /// The thumbnail.
  public var thumbnail: Thumbnail

  /// Pairs a thumbnail with its variant.
  public init(variant: Variant, thumbnail: Thumbnail) {
    self.variant = variant
    self.thumbnail = thumbnail
  }
}
