import ImageCodec
import Synchronization
import ThumbnailCore

/// Keeps the row indexes of JPEGs whose parts were requested: those used last, in memory.
///
/// Helpers, which are not trusted, make them. So only helpers of the same file get an index; they compare it with the
/// file, and ignore it if it leads to damage. None is stored, so none outlives a helper that was taken over.
final class RowIndexes: Sendable {
  /// The most that are kept.
  static let most = 64

  /// The index used last is the last.
  private let recent = Mutex<[(key: SourceKey, index: RowIndex)]>([])

  /// The index of an image's file; empty if nothing is known.
  func index(of key: SourceKey) -> RowIndex {
    recent.withLock { recent in
      guard let place = recent.firstIndex(where: { $0.key == key }) else { return RowIndex() }
      recent.append(recent.remove(at: place))
      return recent[recent.count - 1].index
    }
  }

  /// Keeps the index of an image's file.
  func keep(_ index: RowIndex, of key: SourceKey) {
    guard index.bytes.count <= RowIndex.longest else { return }
    recent.withLock { recent in
      recent.removeAll { $0.key == key }
      recent.append((key, index))
      if recent.count > Self.most { recent.removeFirst() }
    }
  }
}
