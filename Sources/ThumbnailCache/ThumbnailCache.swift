// The module ThumbnailCache: keeps thumbnails and the history of their sources, in memory and on disk.

import Foundation
import GRDB
package import HTTPSemantics
import Synchronization
package import ThumbnailCore

/// The memory cache and the disk cache as two tiers of one, used by the pipeline.
///
/// Nothing here throws, because images must be shown even if the cache fails. Failures count as misses, are logged once
/// for each cause, and are passed to the listener.
package final class ThumbnailCache: Sendable {
  /// The first tier.
  let memory: MemoryCache
  /// The second tier. Nil if there is none, or if its directory cannot be used.
  package let disk: DiskCache?
  /// Decides which thumbnails may be used without revalidation.
  package let rule: ReuseRule
  /// The recent history of sources.
  let recent = RecentHistory()
  private let readers = WorkerPool(name: "thumbnailer.cache.read", threads: CacheConnections.readerCount)
  /// The problems that were logged.
  private let seen = Mutex<Set<String>>([])
  private let onDiskProblem: @Sendable (DiskCacheError) -> Void

  /// Joins two caches. The memory cache has the same `rule`. `onDiskProblem` is called with every failure of the disk
  /// cache, on any thread.
  package init(
    memory: MemoryCache, disk: DiskCache?, rule: ReuseRule = ReuseRule(),
    onDiskProblem: @escaping @Sendable (DiskCacheError) -> Void = { _ in }
  ) {
    self.memory = memory
    self.disk = disk
    self.rule = rule
    self.onDiskProblem = onDiskProblem
    disk?.problems.listen { [weak self] in self?.report($0) }
    // Problems that were found when the cache was opened.
    for problem in [diskReplacement, diskProblem].compactMap(\.self) { report(problem) }
  }

  /// The last reason why a change was not written to the disk cache.
  package var diskProblem: DiskCacheError? { disk?.problems.last }

  /// Why the disk cache's file was replaced by an empty one.
  package var diskReplacement: DiskCacheError? { disk?.problems.replacement }

  /// Looks up a fresh thumbnail in memory: synchronous, less than a microsecond. `rule` is the request's, if it has its
  /// own.
  package func memoryThumbnail(for key: CacheKey, admittedBy rule: ReuseRule? = nil) -> Thumbnail? {
    memory.thumbnail(for: key, admittedBy: rule ?? self.rule)
  }

  /// Stores thumbnails in both tiers, without waiting. They can be read at once, and are written shortly after. The
  /// caller keeps the memory of its own work reserved until there is room again (`waitForRoom`), so that pending writes
  /// stay bounded.
  ///
  /// - Parameters:
  ///   - replacing: What happens to the other thumbnails of the image.
  ///   - permit: Nothing is stored if the permit was revoked.
  /// - Returns: The receipt of the disk cache; nil if the thumbnails do not go there.
  @discardableResult
  package func store(
    _ entries: [CacheEntry], of record: SourceRecord, replacing: Replacement = .none,
    permit: StorePermit = StorePermit()
  ) -> StoreReceipt? {
    var (replacement, report, receipt) = (replacing, nil as (@Sendable () -> Void)?, nil as StoreReceipt?)
    var problem: DiskCacheError?
    permit.perform {
      if case .ifOutdated(let rule, let tell) = replacing {
        if recent[record.key]?.isOutdated(by: record.response, rule: rule) == true {
          // Another job of this process has stored an earlier version, which may still be pending.
          (replacement, report) = (.all, tell)
        } else {
          replacement = .ifOutdated(by: rule) { [weak self] in
            // Memory may still have the earlier version of other variants.
            self?.memory.removeAll(of: record.key, except: entries.map(\.variant))
            tell()
          }
        }
      }
      if replacement.isAll { forgetMemory(of: record.key) }
      if let response = record.response { recent.change(record.key) { $0.put(response) } }
      insert(entries, of: record)
      do throws(DiskCacheError) {
        receipt = try disk?.commits.store(entries, of: record, replacing: replacement)
      } catch {
        problem = error
      }
    }
    // An observer may remove the source, which needs the permit.
    if let problem { self.report(problem) }
    report?()
    return receipt
  }

  /// Writes pending changes without further delay.
  package func writeSoon() { disk?.commits.writeSoon() }

  /// Whether at most 8 MiB are pending.
  package var hasRoom: Bool { disk?.commits.room.reserveNow(0) != nil || disk == nil }

  /// Waits until at most 8 MiB are pending, even if the calling task is cancelled.
  package func waitForRoom(priority: PriorityControl) async {
    guard let disk, !hasRoom else { return }
    await Task { _ = try? await disk.commits.room.reserve(0, priority: priority) }.value
  }

  /// Stores thumbnails in memory only, unless the permit was revoked.
  package func keepInMemory(_ entries: [CacheEntry], of record: SourceRecord, permit: StorePermit) {
    permit.perform { insert(entries, of: record) }
  }

  private func insert(_ entries: [CacheEntry], of record: SourceRecord) {
    for entry in entries {
      memory.insert(
        entry.thumbnail, for: CacheKey(source: record.key, variant: entry.variant), freshness: record.freshness)
    }
  }

  /// Removes an image from both tiers, unless the permit was revoked. `flush` waits until the removal is written.
  package func forget(_ source: SourceKey, permit: StorePermit = StorePermit()) {
    permit.perform {
      forgetMemory(of: source)
      stage(.remove(source))
    }
  }

  private func forgetMemory(of source: SourceKey) {
    memory.removeAll(of: source)
    recent.remove(source)
  }

  /// Removes everything from both tiers. `flush` waits until this is done.
  package func forgetAll() {
    stage(.removeAll)
    forgetMemory()
  }

  /// Removes everything from memory, not from the disk.
  package func forgetMemory() {
    memory.removeAll()
    recent.removeAll()
  }

  /// The history of a source, from memory and disk.
  package func history(of source: SourceKey, priority: PriorityControl) async -> SourceHistory {
    let stored = await read(priority: priority) { try $0.history(of: source) }
    return (stored ?? SourceHistory()).merged(with: recent[source])
  }

  /// A history from the database, with the changes that this process has recorded since.
  package func updated(_ history: SourceHistory, of source: SourceKey) -> SourceHistory {
    history.merged(with: recent[source])
  }

  /// Renews the thumbnails of a source after a 304, and stores the response's metadata.
  package func confirm(
    _ response: StoredResponse, insteadOf earlier: ResponseMetadata, of source: SourceKey,
    permit: StorePermit = StorePermit()
  ) {
    permit.perform {
      memory.renew(source, freshness: response.freshness)
      recent.change(source) { $0.put(response) }
      stage(
        .change(isHint: true) { db, _ in
          try HistoryTable.confirm(response, insteadOf: earlier, of: source, in: db)
        })
    }
  }

  /// Remembers a failure of a source.
  package func remember(_ failure: RememberedFailure, of source: SourceKey, permit: StorePermit = StorePermit()) {
    permit.perform {
      recent.change(source) { $0.put(failure) }
      stage(.change(isHint: true) { db, limits in try HistoryTable.put(failure, of: source, limits, in: db) })
    }
  }

  /// Removes a remembered failure.
  package func forgive(_ url: SourceKey, of source: SourceKey) {
    recent.change(source) { history in history.failures.removeAll { $0.url == url } }
    stage(.change(isHint: true) { db, _ in try HistoryTable.removeFailures(of: source, url: url, in: db) })
  }

  func stage(_ operation: PendingWrites.Operation) {
    do throws(DiskCacheError) { try disk?.commits.stage(operation) } catch { report(error) }
  }

  /// Waits until everything is written. False if a change could not be written.
  @discardableResult
  package func flush() async -> Bool { await write(.barrier) }

  /// Makes a change on disk, and waits until it is written. Returns whether it was.
  @discardableResult
  func write(_ operation: PendingWrites.Operation) async -> Bool {
    do throws(DiskCacheError) {
      try await disk?.commits.stageAndWait(operation)
      return true
    } catch {
      // Write failures have already been reported by the listener.
      if error == .closed { report(error) }
      return false
    }
  }

  /// Queries the disk cache on a reader thread. Nil if there is none, if it fails, or if the task is cancelled.
  func read<Value: Sendable>(
    priority: PriorityControl = PriorityControl(.visible), _ query: @escaping @Sendable (DiskCache) throws -> Value?
  ) async -> Value? {
    guard let disk else { return nil }
    do {
      return try await readers.run(priority: priority) { _ in Result { try query(disk) } }.get()
    } catch {
      if !(error is CancellationError) { report(DiskCacheError(error, path: disk.database.path)) }
      return nil
    }
  }

  func report(_ problem: DiskCacheError) {
    if problem == .cancelled { return }
    if seen.withLock({ $0.insert("\(problem)").inserted }) { Log.cache.warning("\(problem)") }
    onDiskProblem(problem)
  }
}

/// Result pages of photo searches, so that a gallery can be opened offline.
extension ThumbnailCache {
  /// Stores a page, replacing an earlier one at the same place. Returns when it is written.
  package func store(_ page: StoredPage) async {
    await write(.change { db, limits in try PageTable.store(page, limits, in: db) })
  }

  /// The page at a place; nil when it is not stored. Counts as a use of the page.
  package func page(at place: PagePlace) async -> StoredPage? {
    let found = await read { try $0.read { try PageTable.page(at: place, in: $0) } ?? nil }
    if let found { stage(.change(isHint: true) { db, _ in try PageTable.use(found.row, in: db) }) }
    return found?.page
  }

  /// The page sizes that a search is stored with from its first page on, most recently used first.
  package func pageSizes(provider: String, query: String) async -> [Int] {
    await read { try $0.read { try PageTable.pageSizes(provider: provider, query: query, in: $0) } } ?? []
  }

  /// Photos that have a thumbnail in the cache, across all searches, each once, most recently stored first.
  ///
  /// - Parameter mark: The `next` of the previous portion; nil for the beginning.
  package func cachedPhotos(after mark: Int64?, count: Int) async -> CachedPhotos {
    await read { try $0.read { try PageTable.cachedPhotos(after: mark, count: count, in: $0) } } ?? CachedPhotos()
  }

  /// Removes a photo from all pages. Returns when that is written.
  package func removePhoto(_ source: SourceKey) async {
    await write(.change { db, _ in try PageTable.removePhoto(source, in: db) })
  }
}
