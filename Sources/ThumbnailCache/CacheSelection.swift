import Foundation
public import ThumbnailCore

/// Which pictures of a disk cache are meant.
public enum CacheSelection: Sendable {
  /// All of them.
  case all
  /// One, with all that was fetched from its address: a URL without its query, user and password, or a file's path.
  /// Where its URL has a query, and just that URL is there, that one alone.
  case picture(ImageSource)
  /// Those whose address contains all words of a text, in any order and without regard to case and accents.
  case words(String)
}

/// What a picture must be to be taken. What is nil or empty admits all.
struct PictureFilter: Sendable {
  var key: SourceKey?
  var host: String?
  var location: String?
  /// In seconds since 1970.
  var fetchedBefore: Double?
  /// Words in the form in which texts are compared.
  var words: [[UInt8]] = []

  /// Whether an address contains all the words.
  func admits(location: String) -> Bool {
    if words.isEmpty { return true }
    let shown = location.removingPercentEncoding ?? location
    let folded = Array(SearchText.folded(shown).utf8)
    return words.allSatisfy { folded.firstRange(of: $0) != nil }
  }
}
