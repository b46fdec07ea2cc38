import Foundation
import HTTPTransport
import ThumbnailCore

extension PagePlace {
  /// Stands for no words: photos picked by chance. No search is known by it.
  static let chance = " "

  /// Where a page of a search is stored. Searches that differ in blanks and capitals only are one.
  init(_ query: PhotoQuery, provider: String, cursor: PageCursor?) {
    self.init(
      provider: provider, query: Self.folded(query.text), pageSize: query.pageSize, cursor: cursor?.token)
  }

  /// The words of a search as they are compared.
  static func folded(_ text: String) -> String {
    text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

extension Photo {
  /// The photo as it is stored: all that is known of it, and the key of its thumbnails. Nil where it cannot be written.
  func stored(headers: HostHeaders) -> StoredPhoto? {
    guard let payload = try? JSONEncoder().encode(self) else { return nil }
    // All sizes of a photo have one key.
    return StoredPhoto(source: source(for: PixelSize(1, 1), fit: .cover).adding(headers).key, payload: payload)
  }

  /// Reads a stored photo. Nil for one that a later version wrote in another form.
  init?(_ stored: StoredPhoto) {
    guard let photo = try? JSONDecoder().decode(Photo.self, from: stored.payload) else { return nil }
    self = photo
  }
}
