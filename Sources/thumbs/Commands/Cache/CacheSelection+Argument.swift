import ArgumentParser
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// The images of the cache to work on.
struct CacheSelectionArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The picture's URL or path, or words of its address. (default: all pictures)", valueName: "URL|QUERY"))
  var words: [String] = []

  /// Said where nothing of what is named is stored.
  static let nothingStored = "nothing of that is stored; 'thumbs cache list' shows what is"

  /// Parses the words: a URL, a text that starts like a path, or an existing file selects an image; anything else is a
  /// search text.
  func selection() throws -> CacheSelection {
    let text = words.joined(separator: " ")
    if text.allSatisfy(\.isWhitespace) { return .all }
    guard words.count == 1 else { return .words(text) }
    if text.contains("://") || ["/", "./", "../"].contains(where: { text.hasPrefix($0) }) {
      return .picture(try ImageSource(commandLine: text))
    }
    let isFile = (try? FileState(of: RawPath(text))).map { $0.kind != .folder } ?? false
    return isFile ? .picture(try ImageSource(commandLine: text)) : .words(text)
  }
}
