package import Foundation
import HTTPServer
import Synchronization
import PhotoSources
import ThumbnailCore

/// The photos that were hidden in a gallery, for all lists of a server, and for later servers of the same gallery.
actor HiddenPhotos {
  /// The most bytes of their names, and of all prints: those of 200,000 photos, which take 100 MB of memory. Beyond,
  /// none is hidden.
  static let mostBytes = 16 << 20

  private struct State {
    private(set) var ids: Set<String> = []
    private(set) var order: [String] = []
    private(set) var generation = 0
    /// The state of the file when it was read, or written, or could not be read.
    var file: FileState?

    mutating func set(_ order: [String], _ file: FileState?) {
      (ids, self.order, self.file, generation) = (Set(order), order, file, generation + 1)
    }
  }

  var ids: Set<String> { current.ids }
  /// The names in the order in which they were hidden.
  nonisolated var order: [String] { state.withLock(\.order) }
  /// The ids, and how often they have changed: also by another server of the gallery.
  nonisolated var current: (ids: Set<String>, generation: Int) {
    if let file, !file.showsAll, let new = file.state, new != state.withLock(\.file) {
      let order = try? file.read()
      // What another thread has put there meanwhile is read at the next call.
      state.withLock { state in
        if let order { state.set(order, new) } else { state.file = new }
      }
    }
    return state.withLock { ($0.ids, $0.generation) }
  }
  private let state: Mutex<State>
  private let file: HiddenPhotosFile?
  /// Instead of ids, the prints of files that are hidden wherever they are moved (`FilePrint`).
  nonisolated let prints: HiddenPhotos?

  /// The photos hidden in a file; without a file, photos are hidden as long as the server runs.
  init(_ file: HiddenPhotosFile? = nil, prints: HiddenPhotos? = nil) {
    (self.file, self.prints) = (file, prints)
    var state = State()
    if let file, !file.showsAll, let known = file.state, let order = try? file.read() { state.set(order, known) }
    self.state = Mutex(state)
  }

  /// Hides photos: none if there is no room, or the file cannot be written, since a later server would show them.
  func insert(_ photos: [String]) throws(ServerResponse.Problem) {
    let new = Set(photos).subtracting(ids)
    if new.isEmpty { return }
    guard ids.union(new).reduce(0, { $0 + $1.utf8.count }) <= Self.mostBytes else {
      throw .init(.insufficientStorage, "no-room", "there is no room for more hidden pictures; show some first")
    }
    guard change({ $0 = $0.filter { !new.contains($0) } + photos.filter(new.contains) }) else {
      throw .init(.serviceUnavailable, "cache-problem", "not hidden for good: the cache's folder cannot be written")
    }
  }

  func remove(_ photos: [String]) {
    let shown = ids.intersection(photos)
    if !shown.isEmpty { _ = change { $0.removeAll(where: shown.contains) } }
  }

  private func change(_ change: (inout [String]) -> Void) -> Bool {
    var changed = order
    change(&changed)
    var known: FileState?
    if let file {
      guard let written = file.change(from: changed, change) else { return false }
      // One that began with everything shown hides what was hidden since.
      if !file.showsAll { (changed, known) = written }
    }
    state.withLock { $0.set(changed, known) }
    return true
  }
}

/// The file of the hidden photos of one gallery, in the cache's folder.
package struct HiddenPhotosFile: Sendable {
  private struct Content: Codable {
    /// The gallery, for people who read the file.
    var gallery: String
    /// The names in the order in which they were hidden.
    var ids: [String]
  }

  private let url: URL
  private let gallery: String
  /// Whether a server begins with everything shown; call `forget` once it runs.
  package var showsAll = false

  /// The file of a gallery.
  ///
  /// - Parameters:
  ///   - cacheDirectory: The folder of the cache.
  ///   - gallery: Identifies the gallery: the path of a folder, or the name of a photo service.
  package init(in cacheDirectory: URL, gallery: String) {
    url = PrivateFile.url(in: cacheDirectory, folder: "hidden", gallery: gallery)
    self.gallery = gallery
  }

  /// The file with the prints of what is hidden in the folders of all galleries.
  package var prints: HiddenPhotosFile {
    var file = HiddenPhotosFile(in: url.deletingLastPathComponent().deletingLastPathComponent(), gallery: "prints")
    file.showsAll = showsAll
    return file
  }

  /// Has everything shown again.
  package func forget() {
    let all = ((try? read()) ?? []).flatMap { FilePrint.of(RawPath(gallery).appending(RawPath(text: $0).bytes)) }
    if !all.isEmpty { prints.change(from: []) { $0.removeAll(where: Set(all).contains) } }
    guard let lock = try? PrivateFile.lock(url) else { return }
    defer { withExtendedLifetime(lock) {} }
    do {
      _ = try read()
      unlink(url.path)
    } catch is DecodingError {
      try? PrivateFile.setAside(url)
    } catch {}
  }

  /// The state of the file; nil if it is not there.
  var state: FileState? { try? PrivateFile.state(of: url) }

  /// The path of a file that cannot be read: a server that went on would show what is hidden.
  package var unreadablePath: String? { showsAll ? nil : [self, prints].first { (try? $0.read()) == nil }?.url.path }

  /// The hidden photos, none if there is no file. Throws if it cannot be read: `DecodingError` if it is of another kind.
  func read() throws -> [String] {
    if try PrivateFile.state(of: url) == nil { return [] }
    let content = try JSONDecoder().decode(Content.self, from: Data(contentsOf: url))
    if content.gallery == gallery { return content.ids.map(Self.current) }
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no hidden pictures of this gallery"))
  }

  /// The id of a photo that an earlier version has hidden in a list: the digest of its source, without the line before it.
  private static func current(_ id: String) -> String {
    let list = "\(URLListProvider.name)~00"
    guard id.hasPrefix(list), let end = id.dropFirst(list.count).firstRange(of: "~00") else { return id }
    let digest = String(id[end.upperBound...]).replacing("%", with: "~25").replacing("~", with: "%")
    return Data(RawPath(percentEncoded: digest).bytes).hexadecimal
  }

  /// Changes the current file, because another server of the gallery may have changed it, too. If it is damaged, sets it
  /// aside; then, or if it is gone, writes those `known` now. Returns what it has then, with its state; nil if it cannot
  /// be read or written.
  @discardableResult func change(
    from known: [String], _ change: (inout [String]) -> Void
  ) -> (ids: [String], file: FileState?)? {
    do {
      let (content, state) = try PrivateFile.change(url) {
        var content = Content(gallery: gallery, ids: known)
        do {
          if try PrivateFile.state(of: url) != nil { content.ids = try read() }
          change(&content.ids)
        } catch is DecodingError {
          try PrivateFile.setAside(url)
        }
        return content
      }
      return (content.ids, state)
    } catch {
      Log.cache.warning("the hidden pictures of the gallery cannot be stored: \(error.localizedDescription)")
      return nil
    }
  }
}
