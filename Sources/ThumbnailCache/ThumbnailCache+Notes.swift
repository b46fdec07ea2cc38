package import HTTPSemantics
package import ThumbnailCore

/// What is known of pictures besides their thumbnails: what their servers said, and what went wrong.
extension ThumbnailCache {
  /// What is known of a picture, in memory and on the disk.
  package func notes(of source: SourceKey, priority: PriorityControl) async -> SourceHistory {
    let stored = await read(priority: priority) { disk throws(DiskCacheError) in try disk.notes(of: source) }
    return (stored ?? SourceHistory()).merged(with: recent[source])
  }

  /// Keeps the thumbnails of a picture that its server has confirmed, and what it said with that.
  package func confirm(
    _ answer: StoredResponse, insteadOf earlier: ResponseMetadata, of source: SourceKey, permit: StorePermit? = nil
  ) {
    Self.perform(by: permit) {
      memory.renew(source, freshness: answer.freshness)
      recent.change(source) { $0.put(answer) }
      change(.confirmed(answer, insteadOf: earlier), of: source)
    }
  }

  /// Remembers that a picture is not to be had.
  package func remember(_ failure: RememberedFailure, of source: SourceKey, permit: StorePermit? = nil) {
    Self.perform(by: permit) {
      recent.change(source) { $0.put(failure) }
      change(.failed(failure), of: source)
    }
  }

  /// Forgets that a picture was not to be had.
  package func forgive(_ url: SourceKey, of source: SourceKey) {
    recent.change(source) { notes in notes.failures.removeAll { $0.url == url } }
    change(.forgiven(url), of: source)
  }

  private func change(_ change: HistoryChange, of source: SourceKey) {
    do throws(DiskCacheError) { try disk?.note(change, of: source) } catch { report(error) }
  }
}

extension DiskCache {
  /// What is known of a picture besides its thumbnails. Blocks for tens of microseconds.
  func notes(of source: SourceKey) throws(DiskCacheError) -> SourceHistory {
    if commits.isRemoved(source) { return SourceHistory() }
    guard let connections = try connectionsInPlace() else { return SourceHistory() }
    do {
      return try connections.reading { try $0.notes(of: source) }
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }

  /// Changes what is known of a picture; it is written soon.
  func note(_ change: HistoryChange, of source: SourceKey) throws(DiskCacheError) {
    try commits.stage(.note(source, change))
  }
}
