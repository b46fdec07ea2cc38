// The module ThumbnailCache: keeps thumbnails and what is known of their sources, in memory and on disk.

package import HTTPSemantics
package import Logging
import Synchronization
package import ThumbnailCore

/// The memory cache and the disk cache as two tiers of one, used by the pipeline.
///
/// Nothing here throws: a failing cache must not keep an image from being shown. Failures count as misses, are logged
/// once for each cause, and are passed to the listener.
package final class ThumbnailCache: Sendable {
  private struct Problems {
    var seen: Set<String> = []
    var last: DiskCacheError?
    var replaced: DiskCacheError?
  }

  /// The first tier.
  let memory: MemoryCache
  /// The micro thumbnails of the first tier.
  let micro = MicroMemory()
  /// The second tier. Nil when there is none, or its directory cannot be used.
  package let disk: DiskCache?
  /// Decides what may be used without revalidation.
  package let rule: FreshnessRule
  /// The recent history of sources.
  let recent = RecentHistory()
  private let readers = WorkerPool(name: "thumbnailer.cache.read", threads: CacheConnections.readerCount)
  private let problems = Mutex(Problems())
  private let logger: Logger
  private let onDiskProblem: @Sendable (DiskCacheError) -> Void

  /// Joins two caches, of which the memory cache has the same `rule`. `onDiskProblem` is called with every failure of
  /// the disk cache, on any thread.
  package init(
    memory: MemoryCache, disk: DiskCache?, rule: FreshnessRule = FreshnessRule(), logger: Logger = Log.cache,
    onDiskProblem: @escaping @Sendable (DiskCacheError) -> Void = { _ in }
  ) {
    self.memory = memory
    self.disk = disk
    self.rule = rule
    self.logger = logger
    self.onDiskProblem = onDiskProblem
    disk?.problems.listen { [weak self] in
      self?.note($0)
      self?.report($0)
    }
  }

  /// The last reason why a change was not written to the disk cache.
  package var diskProblem: DiskCacheError? { problems.withLock { $0.last } }

  /// Why the disk cache's file was replaced by an empty one; it works normally since then.
  package var diskReplacement: DiskCacheError? { problems.withLock { $0.replaced } }

  /// Looks up a fresh thumbnail in memory: synchronous, less than a microsecond. `rule`: that of one request.
  package func memoryThumbnail(for key: CacheKey, admittedBy rule: FreshnessRule? = nil) -> Thumbnail? {
    memory.thumbnail(for: key, admittedBy: rule ?? self.rule)
  }

  /// Stores thumbnails in both tiers. Returns once they can be read; waits while too many writes are pending.
  ///
  /// - Parameters:
  ///   - replacing: What happens to the other thumbnails of the image.
  ///   - inMemory: The variants to store in memory as well; nil for all.
  ///   - permit: Nothing is stored if it was revoked.
  /// - Returns: Whether the permit was valid throughout.
  @discardableResult
  package func store(
    _ entries: [CacheEntry], of record: SourceRecord, inMemory: Set<Variant>? = nil, replacing: Replacement = .none,
    permit: StorePermit = StorePermit()
  ) async -> Bool {
    let replacement = keep(entries, of: record, inMemory: inMemory, replacing: replacing, permit: permit)
    guard let replacement else { return false }
    var isStored = true
    await attempt { disk throws(DiskCacheError) in
      isStored = try await disk.store(entries, of: record, replacing: replacement, permit: permit)
    }
    return isStored
  }

  /// Does the same without waiting, however many writes are pending. So that their bytes stay bounded, the caller keeps
  /// the memory of its own work reserved until there is room again (`waitForRoom`).
  ///
  /// - Returns: What tells whether the disk has them; nil if it was not given them.
  package func storeNow(
    _ entries: [CacheEntry], of record: SourceRecord, inMemory: Set<Variant>, replacing: Replacement,
    permit: StorePermit
  ) -> StoreReceipt? {
    let replacement = keep(entries, of: record, inMemory: inMemory, replacing: replacing, permit: permit)
    guard let replacement, let disk else { return nil }
    do throws(DiskCacheError) {
      return try disk.storeNow(entries, of: record, replacing: replacement, permit: permit)
    } catch {
      // Failures to write came through the listener already.
      if error == .closed { report(error) }
      return nil
    }
  }

  /// Writes what is pending without further delay.
  package func writeSoon() { disk?.commits.writeSoon() }

  /// Whether no more than 8 MiB wait to be written.
  package var hasRoom: Bool { disk?.hasRoom ?? true }

  /// Waits until no more than 8 MiB wait to be written, even if the calling task is cancelled.
  package func waitForRoom(priority: PriorityControl) async {
    guard let disk, !disk.hasRoom else { return }
    await Task { await disk.waitForRoom(priority: priority) }.value
  }

  /// The part of storing that concerns memory. Returns what is left to replace on disk; nil if the permit was revoked.
  private func keep(
    _ entries: [CacheEntry], of record: SourceRecord, inMemory: Set<Variant>?, replacing: Replacement,
    permit: StorePermit
  ) -> Replacement? {
    var replacement = replacing
    var report: (@Sendable () -> Void)?
    let kept = entries.filter { inMemory?.contains($0.variant) != false }
    let hasMicroThumbnail = entries.contains { $0.thumbnail.microThumbnail != nil }
    let isPermitted = permit.perform {
      if case .ifOutdated(let rule, let tell) = replacing {
        if recent[record.key]?.isOutdated(by: record.response, rule: rule) == true {
          // Another job of this process has stored an earlier version, which may not be written yet.
          (replacement, report) = (.all, tell)
        } else {
          replacement = .ifOutdated(by: rule) { [weak self] in
            // Of a variant that went to disk alone, memory may still have the earlier version.
            self?.memory.removeAll(of: record.key, except: Set(kept.map(\.variant)))
            if !hasMicroThumbnail { self?.micro.remove(record.key) }
            tell()
          }
        }
      }
      if case .all = replacement {
        memory.removeAll(of: record.key)
        micro.remove(record.key)
        recent.remove(record.key)
      }
      if let response = record.response { recent.change(record.key) { $0.put(response) } }
      insert(kept, of: record)
      keepMicroThumbnail(of: entries, record.key)
    }
    report?()
    return isPermitted ? replacement : nil
  }

  /// Stores thumbnails in memory only, unless the permit was revoked.
  package func keepInMemory(_ entries: [CacheEntry], of record: SourceRecord, permit: StorePermit) {
    permit.perform {
      insert(entries, of: record)
      keepMicroThumbnail(of: entries, record.key)
    }
  }

  /// Their micro thumbnails have a place of their own.
  private func insert(_ entries: [CacheEntry], of record: SourceRecord) {
    for entry in entries {
      var thumbnail = entry.thumbnail
      thumbnail.microThumbnail = nil
      memory.insert(
        thumbnail, for: CacheKey(source: record.key, variant: entry.variant), freshness: record.freshness)
    }
  }

  /// Removes an image from both tiers, unless the permit was revoked; `flush` waits until that is written.
  package func forget(_ source: SourceKey, permit: StorePermit = StorePermit()) {
    permit.perform {
      memory.removeAll(of: source)
      recent.remove(source)
      stage(.remove(source))
      micro.remove(source)
    }
  }

  /// Removes everything from both tiers; `flush` waits until that is done.
  package func forgetAll() {
    stage(.removeAll)
    forgetMemory()
  }

  /// Removes everything from memory, and leaves the disk as it is.
  package func forgetMemory() {
    memory.removeAll()
    micro.removeAll()
    recent.removeAll()
  }

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
    _ response: StoredResponse, insteadOf earlier: ResponseMetadata, of source: SourceKey,
    permit: StorePermit = StorePermit()
  ) {
    permit.perform {
      memory.renew(source, freshness: response.freshness)
      recent.change(source) { $0.put(response) }
      stage(.note(source, .confirmed(response, insteadOf: earlier)))
    }
  }

  /// Remembers a failure of a source.
  package func remember(_ failure: RememberedFailure, of source: SourceKey, permit: StorePermit = StorePermit()) {
    permit.perform {
      recent.change(source) { $0.put(failure) }
      stage(.note(source, .failed(failure)))
    }
  }

  /// Removes a remembered failure.
  package func forgive(_ url: SourceKey, of source: SourceKey) {
    recent.change(source) { history in history.failures.removeAll { $0.url == url } }
    stage(.note(source, .forgiven(url)))
  }

  private func stage(_ operation: PendingWrites.Operation) {
    do throws(DiskCacheError) { try disk?.commits.stage(operation) } catch { report(error) }
  }

  /// Waits until everything stored is written. False if something was not.
  @discardableResult
  package func flush() async -> Bool {
    await attempt { disk throws(DiskCacheError) in try await disk.flush() }
  }

  @discardableResult
  func attempt(_ change: (DiskCache) async throws(DiskCacheError) -> Void) async -> Bool {
    guard let disk else { return true }
    do throws(DiskCacheError) {
      try await change(disk)
      return true
    } catch {
      // Write failures have already been reported by the listener.
      if error == .closed { report(error) }
      return false
    }
  }

  func read<Value: Sendable>(
    priority: PriorityControl = PriorityControl(.visible),
    _ query: @escaping @Sendable (DiskCache) throws(DiskCacheError) -> Value?
  ) async -> Value? {
    guard let disk else { return nil }
    let result = try? await readers.run(priority: priority) { _ in
      Result { () throws(DiskCacheError) in try query(disk) }
    }
    switch result {
    case .success(let value): return value
    case .failure(let problem):
      report(problem)
      return nil
    case nil: return nil
    }
  }

  /// Records failures of changes: a failed read only costs a miss.
  private func note(_ problem: DiskCacheError) {
    problems.withLock { problems in
      if problem.isDamage { problems.replaced = problem } else { problems.last = problem }
    }
  }

  func report(_ problem: DiskCacheError) {
    if problem == .cancelled { return }
    let isNew = problems.withLock { problems in
      problems.seen.insert("\(problem)").inserted
    }
    if isNew { logger.warning("\(problem)") }
    onDiskProblem(problem)
  }
}
