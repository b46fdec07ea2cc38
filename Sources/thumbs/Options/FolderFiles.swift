import Exports
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// The pictures and films below a folder, by whatever path.
struct FolderFiles: Sendable {
  private var ids: Set<FileState.ID> = []

  /// None for other providers.
  init(of provider: any PhotoProvider) {
    guard let folder = provider as? FolderProvider else { return }
    var walk = DirectoryWalk(of: RawPath(folder.path), followsLinks: true)
    var hasMore = true
    while hasMore {
      hasMore = walk.listNext { folder, event in
        guard case .entry(let entry) = event else { return true }
        let path = folder.opened.appending(entry.name)
        if Self.isShown(path), let state = try? FileState(of: path) { ids.insert(state.id) }
        return true
      }
    }
  }

  /// Whether a file has the name of a picture or a film.
  static func isShown(_ path: RawPath) -> Bool {
    let end = String(decoding: NamingTemplate.end(path.name), as: UTF8.self).lowercased()
    return RawPath.filmExtensions.contains(end) || ImageFormat.allCases.contains { $0.fileExtensions.contains(end) }
  }

  /// Whether a file is one of them.
  func contains(_ file: FileState) -> Bool { ids.contains(file.id) }
}
