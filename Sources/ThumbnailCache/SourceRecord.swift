package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// The record of a source image, which the cache stores besides its thumbnails.
package struct SourceRecord: Sendable, Equatable {
  /// The key of the image.
  package let key: SourceKey
  /// Its address for display: without user, password, query and fragment, which may hold secrets, and at most 1024
  /// characters long.
  package let location: String
  /// Its host, in lower case; empty for a local file.
  package let host: String
  /// When its bytes were fetched. Nil if the thumbnail was made from another thumbnail. Then the stored record of the
  /// source is kept.
  package var fetchedAt: Date?
  /// Its size in pixels, its format, and the length of its file.
  package var description: SourceDescription
  /// The metadata of its response, for revalidation.
  package var response: StoredResponse?
  /// The freshness of its thumbnails.
  package var freshness = Freshness.lasting

  /// Describes an image that was just fetched.
  package init(_ source: ImageSource, description: SourceDescription, fetchedAt: Date? = Date()) {
    key = source.key
    location = String(Self.presentable(source.url).prefix(1024))
    host = source.url.host?.lowercased() ?? ""
    self.fetchedAt = fetchedAt
    self.description = description
  }

  private static func presentable(_ url: URL) -> String {
    let address = url.absoluteString
    if !address.utf8.contains(where: "@?#".utf8.contains) { return address }
    guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.scheme ?? "" }
    components.user = nil
    components.password = nil
    components.query = nil
    components.fragment = nil
    return components.string ?? url.scheme ?? ""
  }

  /// The stored form of an address: without `https://` and the host, because the host has its own column.
  static func stored(_ location: String, host: String) -> String {
    let origin = "https://" + host
    guard !host.isEmpty, location.hasPrefix(origin + "/") else { return location }
    return String(location.dropFirst(origin.count))
  }

  /// The address in a stored form.
  static func location(_ stored: String, host: String) -> String {
    stored.hasPrefix("/") ? "https://\(host)\(stored)" : stored
  }
}
