import HTTPSemantics
import Logging
import Synchronization
package import ThumbnailCore

/// The memory cache and the disk cache as one: what the pipeline asks and fills.
///
/// Nothing here throws: a cache that fails must not keep a picture from being shown. Failures count as misses, are logged
/// once for each cause, and are passed on to whoever listens.
package final class ThumbnailCache: Sendable {
  private struct Problems {
    var seen: Set<String> = []
    var last: DiskCacheError?
    var replaced: DiskCacheError?
  }

  /// The first tier.
  let memory: MemoryCache
  /// The second tier. Nil when there is none, or its directory cannot be used.
  package let disk: DiskCache?
  /// Decides what of both may be used without asking.
  package let rule: FreshnessRule
  /// What was learned of pictures lately.
  let recent = RecentHistory()
  private let readers = WorkerPool(name: "thumbnailer.cache.read", threads: CacheConnections.readerCount)
  private let problems = Mutex(Problems())
  private let onDiskProblem: @Sendable (DiskCacheError) -> Void

  /// Joins two caches, of which the memory cache has the same `rule`. `onDiskProblem` is called with every failure of the
  /// disk cache, on any thread.
  package init(
    memory: MemoryCache, disk: DiskCache?, rule: FreshnessRule = FreshnessRule(),
    onDiskProblem: @escaping @Sendable (DiskCacheError) -> Void = { _ in }
  ) {
    self.memory = memory
    self.disk = disk
    self.rule = rule
    self.onDiskProblem = onDiskProblem
    disk?.onProblem { [weak self] in
      self?.note($0)
      self?.report($0)
    }
  }

  /// The last reason why a change was not written to the disk cache.
  package var diskProblem: DiskCacheError? { problems.withLock { $0.last } }

  /// Why the disk cache's file was replaced by an empty one; from then on it works as usual.
  package var diskReplacement: DiskCacheError? { problems.withLock { $0.replaced } }

  /// Looks in memory for what is not out of date: synchronous, less than a microsecond.
  package func memoryThumbnail(for key: CacheKey) -> Thumbnail? {
    memory.thumbnail(for: key)
  }

  /// Looks in memory once more, then on the disk, on a thread of its own, and brings what it finds there into memory. Nil
  /// as well when the task is cancelled.
  ///
  /// - Parameters:
  ///   - lasts: Whether thumbnails of the source hold for ever, as those of a local file do.
  ///   - keepsInMemory: Whether the memory keeps it, too.
  ///   - permit: Whether the caches may be changed for it; nil where nobody can forbid that.
  package func storedThumbnail(
    for key: CacheKey, lasts: Bool = false, priority: PriorityControl = PriorityControl(.visible),
    keepsInMemory: Bool = true, permit: StorePermit? = nil
  ) async -> DatedThumbnail? {
    // It may have come into memory since the caller looked there, by a job that ended just now.
    let held = memory.entry(for: key)
    if let held, rule.admits(held.freshness) { return held }
    let found = await read(priority: priority) { disk throws(DiskCacheError) -> DatedThumbnail? in
      // Looked up first: should another process replace the picture in between, what is new is taken for old, which costs
      // a question, and not the other way round.
      let freshness = try self.freshness(of: key.source, on: disk, lasts: lasts)
      return try disk.thumbnail(for: key).map { DatedThumbnail(thumbnail: $0, freshness: freshness) }
    }
    guard let found else { return held }
    if keepsInMemory {
      Self.perform(by: permit) { memory.insert(found.thumbnail, for: key, freshness: found.freshness) }
    }
    return found
  }

  private func freshness(
    of source: SourceKey, on disk: DiskCache, lasts: Bool
  ) throws(DiskCacheError) -> Freshness {
    lasts ? .lasting : try disk.notes(of: source).merged(with: recent[source]).freshness(by: rule)
  }

  /// The smallest thumbnail at hand from which the one asked for can be made by shrinking, in memory or on the disk.
  package func shrinkable(
    for key: CacheKey, lasts: Bool = false, priority: PriorityControl = PriorityControl(.visible)
  ) async -> (variant: Variant, larger: DatedThumbnail)? {
    for variant in key.variant.shrinkable(among: memory.variants(of: key.source)) {
      let larger = memory.entry(for: CacheKey(source: key.source, variant: variant))
      // What is out of date here may have been renewed on the disk by another process.
      if let larger, disk == nil || rule.admits(larger.freshness) { return (variant, larger) }
    }
    return await read(priority: priority) { disk throws(DiskCacheError) in
      for variant in key.variant.shrinkable(among: try disk.variants(of: key.source)) {
        let freshness = try self.freshness(of: key.source, on: disk, lasts: lasts)
        if let thumbnail = try disk.thumbnail(for: CacheKey(source: key.source, variant: variant)) {
          return (variant, DatedThumbnail(thumbnail: thumbnail, freshness: freshness))
        }
      }
      return nil
    }
  }

  /// Keeps thumbnails in both tiers, with `replacing` in the place of all that are there of the picture. Returns once they
  /// can be read; waits while too much waits to be written.
  ///
  /// - Parameters:
  ///   - inMemory: The variants that the memory keeps, too; nil for all.
  ///   - permit: Without it nothing is kept; nil where nobody can forbid that.
  /// - Returns: Whether the permit has lasted.
  @discardableResult
  package func store(
    _ entries: [CacheEntry], of record: SourceRecord, inMemory: Set<Variant>? = nil, replacing: Bool = false,
    permit: StorePermit? = nil
  ) async -> Bool {
    let isPermitted = Self.perform(by: permit) {
      if replacing {
        memory.removeAll(of: record.key)
        recent.remove(record.key)
      }
      if let answer = record.answer { recent.change(record.key) { $0.put(answer) } }
      for entry in entries where inMemory?.contains(entry.variant) != false {
        memory.insert(
          entry.thumbnail, for: CacheKey(source: record.key, variant: entry.variant), freshness: record.freshness)
      }
    }
    guard isPermitted else { return false }
    var isStored = true
    await attempt { disk throws(DiskCacheError) in
      isStored = try await disk.store(entries, of: record, replacing: replacing, permit: permit)
    }
    return isStored
  }

  /// Keeps thumbnails in memory alone, unless the permit was revoked.
  package func keepInMemory(_ entries: [CacheEntry], of record: SourceRecord, permit: StorePermit?) {
    Self.perform(by: permit) {
      for entry in entries {
        memory.insert(
          entry.thumbnail, for: CacheKey(source: record.key, variant: entry.variant), freshness: record.freshness)
      }
    }
  }

  /// Makes a change, unless the permit for it was revoked. Returns whether it was made.
  @discardableResult
  package static func perform(by permit: StorePermit?, _ change: () -> Void) -> Bool {
    guard let permit else {
      change()
      return true
    }
    return permit.perform(change)
  }

  /// Forgets a picture in both tiers; `flush` waits until that is written.
  package func forget(_ source: SourceKey) {
    memory.removeAll(of: source)
    recent.remove(source)
    stage(.remove(source))
  }

  /// Forgets everything in both tiers; `flush` waits until that is done.
  package func forgetAll() {
    memory.removeAll()
    recent.removeAll()
    stage(.removeAll)
  }

  private func stage(_ operation: PendingWrites.Operation) {
    do throws(DiskCacheError) { try disk?.commits.stage(operation) } catch { report(error) }
  }

  /// Forgets a picture in both tiers; returns when that is written.
  func remove(_ source: SourceKey) async {
    forget(source)
    await flush()
  }

  /// Forgets everything in both tiers; returns when that is done.
  func removeAll() async {
    forgetAll()
    await flush()
  }

  /// Waits until everything stored is written. False when something was not.
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
      // Failures to write came through the listener already.
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

  /// Remembers what concerns changes: a read that failed costs a miss and nothing else.
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
    if isNew { Log.cache.warning("\(problem)") }
    onDiskProblem(problem)
  }
}

extension Variant {
  /// Those from which this one can be made by shrinking, the smallest first.
  fileprivate func shrinkable(among variants: [Variant]) -> [Variant] {
    variants.filter { canBeShrunk(from: $0) }.sorted { $0.size.pixelCount < $1.size.pixelCount }
  }
}
