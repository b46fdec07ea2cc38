import Foundation
import ThumbnailCore

/// Makes photos of the items of a response and validates their fields.
enum PhotoItems {
  /// The longest plausible side, in pixels.
  private static let longestSide = 1_000_000
  /// The longest accepted URL, in bytes: about the limit of servers and proxies.
  private static let longestURL = 8192
  /// How much of a text is parsed, in Unicode scalars: more than is ever displayed, with room for markup.
  private static let longestText = 16_384

  /// The photos of a page's items, and the faults of the others. Fails only when all items are malformed.
  ///
  /// - Parameters:
  ///   - largestPage: The service's largest page size. Items beyond it are dropped, which bounds the memory.
  ///   - make: Makes a photo; nil for an item of a kind to be left out silently.
  static func photos<Item: Decodable & Sendable>(
    of items: [Lenient<Item>], from provider: String, largestPage: Int, by make: (Item) throws(ItemFault) -> Photo?
  ) throws(ProviderError) -> (photos: [Photo], skipped: [SkippedItem]) {
    var photos: [Photo] = []
    var skipped: [SkippedItem] = []
    var leftOut = 0
    var firstFault: String?
    for (index, item) in items.prefix(largestPage).enumerated() {
      do throws(ItemFault) {
        if let photo = try make(try item.result.get()) { photos.append(photo) } else { leftOut += 1 }
      } catch {
        skipped.append(SkippedItem(place: "item \(index + 1)", reason: error.reason))
        if error.isMalformed { firstFault = firstFault ?? error.reason }
      }
    }
    if photos.isEmpty, leftOut == 0, let firstFault {
      throw .malformed(provider: provider, snippet: "none of \(items.count) photos can be read: \(firstFault)")
    }
    if items.count > largestPage {
      skipped.append(
        SkippedItem(
          place: "item \(largestPage + 1)", reason: "it and all after it are more than a page of \(provider) has"))
    }
    return (photos, skipped)
  }

  /// Validates an id, so that it can be used in messages and in the cache.
  static func id(_ id: String) throws(ItemFault) -> String {
    guard (1...200).contains(id.utf8.count), id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw ItemFault(reason: "id cannot be used")
    }
    return id
  }

  /// A photo's size in pixels.
  static func size(_ width: Int, _ height: Int) throws(ItemFault) -> PixelSize {
    guard (1...longestSide).contains(width), (1...longestSide).contains(height) else {
      throw ItemFault(reason: "it claims to be \(width) × \(height) pixels")
    }
    return PixelSize(width, height)
  }

  /// The URL in a required field.
  static func url(_ text: String, _ field: String) throws(ItemFault) -> URL {
    guard let url = webURL(text) else { throw ItemFault(reason: "\(field) is not a URL of the web") }
    return url
  }

  /// An `http` or `https` URL; nil for anything else. One that begins with `//` becomes `https`.
  static func webURL(_ text: String?) -> URL? {
    guard let text, text.utf8.count <= longestURL, let url = URL(string: text.hasPrefix("//") ? "https:\(text)" : text),
      let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme), let host = url.host(), !host.isEmpty
    else { return nil }
    return url
  }

  /// A field's text on one line, without HTML; nil if it is empty.
  static func text(_ text: String?) -> String? {
    guard let text else { return nil }
    let beginning = String(text.unicodeScalars.prefix(longestText))
    let line = Snippet.line(HTMLText.plain(beginning), limit: 500)
    return line.isEmpty ? nil : line
  }
}

extension PageCursor {
  /// The page number, from 1, in a cursor of a provider with numbered pages.
  static func number(of cursor: PageCursor?, for provider: String) throws(ProviderError) -> Int {
    guard let cursor else { return 1 }
    guard let page = Int(cursor.token), (1...1_000_000).contains(page) else {
      throw .badRequest(provider: provider, reason: "this page cursor is not one of \(provider)")
    }
    return page
  }
}
