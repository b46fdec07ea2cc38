import Foundation
import ImageCodec
import Synchronization
import ThumbnailCore

/// Keeps the indices of the rows of JPEGs of which parts were made: those used last, in memory and in the cache's folder.
///
/// Decoders make them, which are not trusted: an index is only ever given to the decoder of the same image, which
/// compares it with the file.
final class RowIndexes: Sendable {
  /// The most that are kept.
  static let most = 64
  private static let folder = "rows"

  private let folder: RawPath?
  /// The one used last is the last.
  private let recent = Mutex<[(key: SourceKey, index: RowIndex)]>([])

  /// Kept in a folder of the cache's; nil: only in memory.
  init(in cacheDirectory: URL?) {
    folder = cacheDirectory.map { RawPath($0.appending(path: Self.folder).path) }
  }

  /// Removes those on disk.
  static func removeAll(in cacheDirectory: URL) {
    try? FileManager.default.removeItem(at: cacheDirectory.appending(path: folder))
  }

  /// What is known of an image's file; empty if that is nothing.
  func index(of key: SourceKey) -> RowIndex {
    if let known = recent.withLock({ recent in
      recent.firstIndex { $0.key == key }.map { index in
        recent.append(recent.remove(at: index))
        return recent[recent.count - 1].index
      }
    }) {
      return known
    }
    guard let path = path(of: key), let stored = try? Data(contentsOf: URL(fileURLWithPath: path.description)),
      stored.count <= RowIndex.longest
    else { return RowIndex() }
    let index = RowIndex([UInt8](stored))
    remember(index, of: key)
    return index
  }

  /// Keeps the index of an image's file.
  func keep(_ index: RowIndex, of key: SourceKey) {
    guard index.bytes.count <= RowIndex.longest, index != self.index(of: key) else { return }
    remember(index, of: key)
    guard let folder, let path = path(of: key) else { return }
    do throws(SystemFailure) {
      try NewFile.makeFolders(folder)
      _ = folder.withCString { chmod($0, 0o700) }
      var file = try NewFile(path, permissions: 0o600)
      try file.write(index.bytes)
      try file.commit()
    } catch {
      Log.cache.warning("the index of a picture's rows cannot be kept: \(error.reason)")
    }
    tidy(folder)
  }

  private func path(of key: SourceKey) -> RawPath? { folder?.appending(key.hex.utf8) }

  private func remember(_ index: RowIndex, of key: SourceKey) {
    recent.withLock { recent in
      recent.removeAll { $0.key == key }
      recent.append((key, index))
      if recent.count > Self.most { recent.removeFirst() }
    }
  }

  /// Removes the files beyond the limit that were written first.
  private func tidy(_ folder: RawPath) {
    let files = try? FileManager.default.contentsOfDirectory(
      at: URL(fileURLWithPath: folder.description), includingPropertiesForKeys: [.contentModificationDateKey])
    guard let files, files.count > Self.most else { return }
    let dated = files.map { file in
      (file, (try? file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate) ?? .distantPast)
    }
    for (file, _) in dated.sorted(by: { $0.1 < $1.1 }).dropLast(Self.most) {
      try? FileManager.default.removeItem(at: file)
    }
  }
}
