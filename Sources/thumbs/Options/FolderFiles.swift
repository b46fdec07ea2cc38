import Exports
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// The pictures and films below a folder, and the folders that they are in, by whatever path.
struct FolderFiles: Sendable {
  private var ids: Set<FileState.ID> = []

  /// None for other providers.
  init(of provider: any PhotoProvider) {
    guard let folder = provider as? FolderProvider else { return }
    var walk = DirectoryWalk(of: RawPath(folder.path), followsLinks: true)
    var hasMore = true
    while hasMore { hasMore = walk.listNext { add($1, in: $0) } }
  }

  private mutating func add(_ event: DirectoryWalk.Event, in folder: DirectoryWalk.Folder) -> Bool {
    switch event {
    case .opened(let state): ids.insert(state.id)
    case .entry(let entry):
      let path = folder.opened.appending(entry.name)
      if Self.isShown(path), let state = try? FileState(of: path) {
        ids.insert(state.id)
        // Of a link, the folder of its file.
        if entry.isLink, let file = path.resolved, let folder = try? FileState(of: RawPath(bytes: file.folder)) {
          ids.insert(folder.id)
        }
      }
    default: return false
    }
    return true
  }

  /// Whether a file has the name of a picture or a film.
  static func isShown(_ path: RawPath) -> Bool {
    let end = String(decoding: NamingTemplate.end(path.name), as: UTF8.self).lowercased()
    return RawPath.filmExtensions.contains(end) || ImageFormat.allCases.contains { $0.fileExtensions.contains(end) }
  }

  /// Whether a file or folder is one of them.
  func contains(_ file: FileState) -> Bool { ids.contains(file.id) }
}
