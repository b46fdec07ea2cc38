import PhotoSources
import Thumbnailer

/// Describes a source and its items in messages.
struct SourceMessages: Sendable {
  private let query: String?
  private let listName: String?
  private let provider: any PhotoProvider

  init(_ source: SourceOptions, _ provider: any PhotoProvider) {
    (query, listName, self.provider) = (source.query, source.listName, provider)
  }

  /// The position of an item, in terms the user can find.
  func place(of item: SkippedItem) -> String {
    if let listName { return "\(listName), \(item.place)" }
    if let folder = provider as? FolderProvider { return "\(PlainText.path(folder.path))/\(item.place)" }
    return "\(provider.name), \(item.place)"
  }

  /// Why there were no images, and what to do about it.
  func nothingFound() async -> String {
    if let listName { return "\(listName) holds no URL; write one a line" }
    let words = query.map { $0.isEmpty ? "" : " for “\($0)”" } ?? ""
    guard let folder = provider as? FolderProvider else {
      return "\(provider.name) has no picture\(words); try other words"
    }
    let any = try? await folder.search(PhotoQuery("", pageSize: 1), at: nil)
    let path = PlainText.path(folder.path)
    return any?.total == 0
      ? "the folder \(path) holds no picture; name one with JPEG, PNG, WebP, GIF, TIFF, HEIC or AVIF files"
      : "the folder \(path) has no picture\(words); try other words, or --query \"\" for all"
  }
}

extension PhotoProvider {
  /// The message that a fallback source or unrelated photos are used; nil if not.
  var standInNotice: String? {
    if let auto = self as? AutoProvider {
      return auto.fallbackReason.map { "\(Advice.withOptions($0)); \(name) stands in" }
    }
    guard let offline = self as? OfflineProvider, offline.givesOtherPhotos else { return nil }
    return "nothing is stored of this search; all pictures that are stored stand in"
  }
}
