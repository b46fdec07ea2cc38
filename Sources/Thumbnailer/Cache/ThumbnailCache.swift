import Logging
import Synchronization

/// The memory cache and the disk cache as one: what the pipeline asks and fills.
///
/// Nothing here throws: a cache that fails must not keep a picture from being shown. Failures count as misses, are logged
/// once for each cause, and are passed on to whoever listens.
final class ThumbnailCache: Sendable {
  private struct Problems {
    var seen: Set<String> = []
    var last: DiskCacheError?
    var replaced: DiskCacheError?
  }

  /// The first tier.
  let memory: MemoryCache
  /// The second tier. Nil when there is none, or its directory cannot be used.
  let disk: DiskCache?
  private let readers = WorkerPool(name: "thumbnailer.cache.read", threads: CacheConnections.readerCount)
  private let problems = Mutex(Problems())
  private let onDiskProblem: @Sendable (DiskCacheError) -> Void

  /// Joins two caches. `onDiskProblem` is called with every failure of the disk cache, on any thread.
  init(memory: MemoryCache, disk: DiskCache?, onDiskProblem: @escaping @Sendable (DiskCacheError) -> Void = { _ in }) {
    self.memory = memory
    self.disk = disk
    self.onDiskProblem = onDiskProblem
    disk?.onProblem { [weak self] in
      self?.note($0)
      self?.report($0)
    }
  }

  /// The last reason why a change was not written to the disk cache.
  var diskProblem: DiskCacheError? { problems.withLock { $0.last } }

  /// Why the disk cache's file was replaced by an empty one; from then on it works as usual.
  var diskReplacement: DiskCacheError? { problems.withLock { $0.replaced } }

  /// Looks in memory: synchronous, less than a microsecond.
  func memoryThumbnail(for key: CacheKey) -> Thumbnail? {
    memory.thumbnail(for: key)
  }

  /// Looks in memory once more, then on the disk, on a thread of its own, and brings what it finds there into memory. Nil
  /// as well when the task is cancelled.
  func storedThumbnail(
    for key: CacheKey, priority: PriorityControl = PriorityControl(.visible)
  ) async -> Thumbnail? {
    // It may have come into memory since the caller looked there, by a job that ended just now.
    if let thumbnail = memory.thumbnail(for: key) { return thumbnail }
    guard
      let thumbnail = await read(priority: priority, { disk throws(DiskCacheError) in try disk.thumbnail(for: key) })
    else { return nil }
    memory.insert(thumbnail, for: key)
    return thumbnail
  }

  /// The smallest thumbnail at hand from which the one asked for can be made by shrinking, in memory or on the disk.
  func shrinkable(
    for key: CacheKey, priority: PriorityControl = PriorityControl(.visible)
  ) async -> (variant: Variant, thumbnail: Thumbnail)? {
    for variant in key.variant.shrinkable(among: memory.variants(of: key.source)) {
      if let thumbnail = memory.thumbnail(for: CacheKey(source: key.source, variant: variant)) {
        return (variant, thumbnail)
      }
    }
    return await read(priority: priority) { disk throws(DiskCacheError) in
      for variant in key.variant.shrinkable(among: try disk.variants(of: key.source)) {
        if let thumbnail = try disk.thumbnail(for: CacheKey(source: key.source, variant: variant)) {
          return (variant, thumbnail)
        }
      }
      return nil
    }
  }

  /// Keeps thumbnails in both tiers. Returns once they can be read; waits while too much waits to be written.
  func store(_ entries: [CacheEntry], of record: SourceRecord) async {
    for entry in entries {
      memory.insert(entry.thumbnail, for: CacheKey(source: record.key, variant: entry.variant))
    }
    await attempt { disk throws(DiskCacheError) in try await disk.store(entries, of: record) }
  }

  /// Forgets a picture in both tiers.
  func remove(_ source: SourceKey) async {
    memory.removeAll(of: source)
    await attempt { disk throws(DiskCacheError) in try await disk.remove(source) }
  }

  /// Forgets everything in both tiers.
  func removeAll() async {
    memory.removeAll()
    await attempt { disk throws(DiskCacheError) in try await disk.removeAll() }
  }

  /// Waits until everything stored is written. False when something was not.
  @discardableResult
  func flush() async -> Bool {
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

  private func report(_ problem: DiskCacheError) {
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
