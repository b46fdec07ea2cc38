import Foundation
import ThumbnailCore

/// Lists the images of a folder and its subfolders. Blocks; made for a single use on a thread of its own.
///
/// Leaves out what is hidden or passed over (`DirectoryWalk`), and all other entries than files and folders. Follows symbolic links. Every
/// folder is listed once, under its real path if that lies within the root, so cycles of links end.
struct FolderWalk {
  /// The extensions of images that are decoded in process, in lower case.
  static let pictureExtensions = Set(
    [ImageFormat.jpeg, .png, .webp, .gif, .tiff, .heif, .avif, .raw].flatMap(\.fileExtensions))

  private let root: String
  private let extensions: Set<UInt64>
  private var sorter: PathSorter
  private var skipped: [SkippedItem] = []
  /// The number of films, which are left out.
  private(set) var films = 0
  /// The JPEGs that are hidden, whose RAW files and HEICs are, too.
  private(set) var hidden = CompanionNames()
  /// The folders that were listed or passed over, and the lists of hidden names in them, by their paths within the root, which end with a slash or are empty.
  private(set) var folders: [(path: [UInt8], state: FileState)] = []

  /// A walk of the folder at an absolute path.
  init(root: String, extensions: Set<String> = pictureExtensions, sorter: PathSorter = PathSorter()) {
    self.root = root
    self.sorter = sorter
    self.extensions = Set(extensions.map { Self.packed($0.utf8) }).subtracting([0])
  }

  /// Lists everything.
  mutating func run(cancelled: CancellationFlag) throws(ProviderError) -> PathList {
    try checkRoot()
    var walk = DirectoryWalk(of: RawPath(root), followsLinks: true, areInOrder: NaturalOrder.areInOrder)
    var hasMore = true
    while hasMore {
      if cancelled.isSet { throw .cancelled }
      hasMore = try walk.listNext { (folder, event) throws(ProviderError) in try take(event, of: folder) }
    }
    skipped.sort { $0.place < $1.place }
    return try ProviderError.listing(root) { () throws(SystemFailure) in try sorter.finish(skipped: skipped) }
  }

  private func checkRoot() throws(ProviderError) {
    let state: FileState
    do throws(SystemFailure) {
      state = try FileState(of: RawPath(root))
    } catch {
      if error.code == ENOENT || error.code == ENOTDIR { throw .folderMissing(path: root) }
      throw .folderUnreadable(path: root, reason: error.reason)
    }
    if state.kind != .folder { throw .notAFolder(path: root) }
  }

  /// Adds a folder or an entry. Returns whether to list it.
  private mutating func take(
    _ event: DirectoryWalk.Event, of folder: DirectoryWalk.Folder
  ) throws(ProviderError) -> Bool {
    switch event {
    case .opened(let state):
      folders.append((Array(folder.path), state))
      return !folder.isPassedOver
    case .repeated: return false
    case .entry(let entry):
      return try ProviderError.listing(root) { () throws(SystemFailure) in try take(entry, of: folder) }
    case .unreadable(let failure):
      if folder.path.isEmpty { throw .folderUnreadable(path: root, reason: failure.reason) }
      skip(folder.path, because: "the folder cannot be read: \(failure.reason)")
    case .incomplete(let failure):
      skip(folder.path, because: "the rest cannot be read: \(failure.reason)")
    }
    return false
  }

  private mutating func take(
    _ entry: DirectoryWalk.Entry, of folder: DirectoryWalk.Folder
  ) throws(SystemFailure) -> Bool {
    if entry.name.elementsEqual(DirectoryWalk.hiddenList),
      let state = try? FileState(of: folder.opened.appending(entry.name))
    {
      folders.append((folder.path + DirectoryWalk.hiddenList, state))
    }
    if entry.isHidden {
      hidden.add(RawPath(bytes: folder.path + entry.name))
      return false
    }
    let end = Self.end(of: entry.name)
    let isPicture = extensions.contains(end)
    switch entry.kind {
    case .failure(let failure):
      let reason = failure.code == ENOENT ? "a broken link; repair it or remove it" : failure.reason
      if isPicture { skip(folder.path, entry.name, because: reason) }
      return false
    case .success(let kind):
      if kind == .regular, Self.filmExtensions.contains(end) { films += 1 }
      guard kind == .folder || kind == .regular && isPicture else { return false }
      if kind == .regular { try sorter.add(entry.name, in: folder.path) }
      return true
    }
  }

  private mutating func skip(_ folder: [UInt8], _ name: UnsafeBufferPointer<UInt8>? = nil, because reason: String) {
    let name = name.map { Snippet.line(String(decoding: $0, as: UTF8.self), limit: 255) } ?? ""
    skipped.append(SkippedItem(place: String(decoding: folder, as: UTF8.self) + name, reason: reason))
  }

  private static let filmExtensions = Set(RawPath.filmExtensions.map { packed($0.utf8) })

  /// The extension of a name as `packed` has it.
  private static func end(of name: UnsafeBufferPointer<UInt8>) -> UInt64 {
    name.lastIndex(of: UInt8(ascii: ".")).map { packed(name[($0 + 1)...]) } ?? 0
  }

  /// The lower-case extension packed into an integer, which compares faster than a string. 0 if it is longer than
  /// eight bytes.
  private static func packed(_ end: some Collection<UInt8>) -> UInt64 {
    end.count > 8 ? 0 : end.reduce(0) { $0 << 8 | UInt64((0x41...0x5a).contains($1) ? $1 | 0x20 : $1) }
  }
}

extension ProviderError {
  /// Writes or reads the list of a folder's images. `ECANCELED` means a cancelled task.
  static func listing<Value>(
    _ path: String, _ body: () throws(SystemFailure) -> Value
  ) throws(ProviderError) -> Value {
    do throws(SystemFailure) {
      return try body()
    } catch {
      if error.code == ECANCELED { throw .cancelled }
      let place = PathSorter.standardDirectories[0]
      throw .folderUnreadable(
        path: path,
        reason: "the list of its pictures cannot be kept in \(place) (TMPDIR names another): \(error.reason)")
    }
  }
}
