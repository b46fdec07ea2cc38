import Foundation
import HTTPTransport
import ThumbnailCore

extension PagePlace {
  /// The query that random photos are stored under. No search can have it.
  static let chance = " "

  /// The key of a stored page. Queries that differ only in white space and case share it.
  init(_ query: PhotoQuery, provider: String, cursor: PageCursor?) {
    self.init(
      provider: provider, query: Self.folded(query.text), pageSize: query.pageSize, cursor: cursor?.token)
  }

  /// The query as it is compared.
  static func folded(_ text: String) -> String {
    text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

extension Photo {
  /// The photo as it is stored: its metadata and the key of its thumbnails. Nil if it cannot be encoded.
  func stored(headers: HostHeaders) -> StoredPhoto? {
    guard let payload = try? JSONEncoder().encode(self) else { return nil }
    // All sizes of a photo have the same key.
    return StoredPhoto(source: source(for: PixelSize(1, 1), fit: .cover).adding(headers).key, payload: payload)
  }

  /// Decodes a stored photo. Nil if a later version wrote it in another format.
  init?(_ stored: StoredPhoto) {
    guard let photo = try? JSONDecoder().decode(Photo.self, from: stored.payload) else { return nil }
    self = photo
  }
}
