import Foundation
public import ThumbnailCore

/// Selects images of a disk cache.
public enum CacheSelection: Sendable {
  /// All images.
  case all
  /// One image, with all that was fetched from its address: a URL without its query, user and password, or a file's
  /// path. If its URL has a query and exactly that URL is stored, that one alone.
  case picture(ImageSource)
  /// Images whose address contains all words of a text, in any order, ignoring case and accents.
  case words(String)
  /// Images of a host, by its whole name without a port.
  case host(String)
  /// Images whose address begins with a text: a URL without user, password and query, or the absolute path of files.
  case prefix(String)
}

/// Conditions on images. Those that are nil or empty match all.
struct SourceFilter: Sendable {
  var key: SourceKey?
  var host: String?
  var location: String?
  /// In seconds since 1970.
  var fetchedBefore: Double?
  /// What addresses begin with.
  var prefix: String?
  /// Words in the form of `SearchText`.
  var words: [[UInt8]] = []

  /// Whether an address has the prefix and contains all the words.
  func admits(location: String) -> Bool {
    if let prefix, !location.utf8.starts(with: prefix.utf8) { return false }
    if words.isEmpty { return true }
    let shown = location.removingPercentEncoding ?? location
    let folded = Array(SearchText.folded(shown).utf8)
    return words.allSatisfy { folded.firstRange(of: $0) != nil }
  }
}
