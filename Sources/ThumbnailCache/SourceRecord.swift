public import Foundation
package import HTTPSemantics
public import ThumbnailCore

/// What the cache keeps about a picture besides its thumbnails.
public struct SourceRecord: Sendable, Equatable {
  /// What the picture is known by.
  public let key: SourceKey
  /// Where it came from, to show to people: without user, password, query and fragment, which may hold secrets, and at
  /// most 1024 characters long.
  public let location: String
  /// The host it came from, in lower case; empty for a local file.
  public let host: String
  /// When its bytes were fetched. Nil when they were not, because a thumbnail was made from another: what is known of the
  /// source then stays as it is.
  public var fetchedAt: Date?
  /// Its size in pixels, its format, and the length of its file.
  public var description: SourceDescription
  /// What its server said with the bytes, to ask it later whether they have changed.
  package var answer: StoredResponse?
  /// How long the thumbnails hold.
  package var freshness = Freshness.lasting

  /// Describes a picture that was just fetched.
  public init(_ source: ImageSource, description: SourceDescription, fetchedAt: Date? = Date()) {
    key = source.key
    location = String(Self.presentable(source.url).prefix(1024))
    host = source.url.host?.lowercased() ?? ""
    self.fetchedAt = fetchedAt
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
