import ImageCodec
import Synchronization
import ThumbnailCore

/// Keeps the indices of the rows of JPEGs of which parts were made: those used last, in memory.
///
/// Decoders make them, which are not trusted. So an index is only given to decoders of the same file, which compare it
/// with the file and do without where it leads to damage; and none is stored, where it would outlive a decoder that was
/// taken over.
final class RowIndexes: Sendable {
  /// The most that are kept.
  static let most = 64

  /// The one used last is the last.
  private let recent = Mutex<[(key: SourceKey, index: RowIndex)]>([])

  /// What is known of an image's file; empty if that is nothing.
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
