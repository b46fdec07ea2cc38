package import HTTPSemantics
package import ThumbnailCore

/// The history of source images: their responses and failures.
extension ThumbnailCache {
  /// The history of a source, from memory and disk.
  package func history(of source: SourceKey, priority: PriorityControl) async -> SourceHistory {
    let stored = await read(priority: priority) { disk throws(DiskCacheError) in try disk.history(of: source) }
    return (stored ?? SourceHistory()).merged(with: recent[source])
  }

  /// A history that was looked up, with what this process has recorded since.
  package func updated(_ history: SourceHistory, of source: SourceKey) -> SourceHistory {
    history.merged(with: recent[source])
  }

  /// Renews the thumbnails of a source after a 304, and stores the response's metadata.
  package func confirm(
    _ response: StoredResponse, insteadOf earlier: ResponseMetadata, of source: SourceKey, permit: StorePermit? = nil
  ) {
    Self.perform(by: permit) {
      memory.renew(source, freshness: response.freshness)
      recent.change(source) { $0.put(response) }
      change(.confirmed(response, insteadOf: earlier), of: source)
    }
  }

  /// Remembers a failure of a source.
  package func remember(_ failure: RememberedFailure, of source: SourceKey, permit: StorePermit? = nil) {
    Self.perform(by: permit) {
      recent.change(source) { $0.put(failure) }
      change(.failed(failure), of: source)
    }
  }

  /// Removes a remembered failure.
  package func forgive(_ url: SourceKey, of source: SourceKey) {
    recent.change(source) { history in history.failures.removeAll { $0.url == url } }
    change(.forgiven(url), of: source)
  }

  private func change(_ change: HistoryChange, of source: SourceKey) {
    do throws(DiskCacheError) { try disk?.note(change, of: source) } catch { report(error) }
  }
}

extension DiskCache {
  /// The history of a source. Blocks for tens of microseconds.
  func history(of source: SourceKey) throws(DiskCacheError) -> SourceHistory {
    if commits.isRemoved(source) { return SourceHistory() }
    guard let connections = try connectionsInPlace() else { return SourceHistory() }
    do {
      return try connections.reading { try $0.history(of: source) }
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }

  /// Changes the history of a source; written behind.
  func note(_ change: HistoryChange, of source: SourceKey) throws(DiskCacheError) {
    try commits.stage(.note(source, change))
  }
}
