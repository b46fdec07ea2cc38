package import ThumbnailCore

/// What both tiers hold for the requests of one source.
package struct CacheLookup: Sendable {
  /// A stored thumbnail that serves a variant.
  package enum Hit: Sendable {
    /// The variant itself.
    case exact(DatedThumbnail)
    /// A larger one from which it can be made by shrinking.
    case larger(Variant, DatedThumbnail)
  }

  /// The hits; variants that are not in here are misses.
  package fileprivate(set) var hits: [Variant: Hit] = [:]
  /// What is known of the source besides its thumbnails. Nil where memory alone served all variants, so that nothing else
  /// was looked up.
  package fileprivate(set) var history: SourceHistory?

  /// Nothing was found.
  package init() {}
}

extension ThumbnailCache {
  /// Looks up all variants at once: in memory, then on disk, in one visit of one reader thread, where also what is known
  /// of the source is read. What is found on disk comes into memory. When the task is cancelled, everything is a miss.
  ///
  /// - Parameters:
  ///   - lasts: Whether thumbnails of the source never become stale, as those of a local file.
  ///   - inMemory: The variants that the memory keeps; nil for all.
  ///   - permit: Whether the caches may be changed for it.
  ///   - rule: Decides what is stale; nil for the cache's own.
  package func lookUp(
    _ variants: [Variant], of source: SourceKey, lasts: Bool = false, inMemory: Set<Variant>? = nil,
    permit: StorePermit = StorePermit(), admittedBy rule: FreshnessRule? = nil,
    priority: PriorityControl = PriorityControl(.visible)
  ) async -> CacheLookup {
    let rule = rule ?? self.rule
    var lookup = CacheLookup()
    var rest: [Variant] = []
    for variant in variants {
      // It may have come into memory since the caller looked there, by a job that ended just now.
      if let held = memory.entry(for: CacheKey(source: source, variant: variant)), rule.admits(held.freshness) {
        lookup.hits[variant] = .exact(held)
      } else {
        rest.append(variant)
      }
    }
    if rest.isEmpty { return lookup }
    let found = await read(priority: priority) { [rest] disk throws(DiskCacheError) in
      try disk.reading(source) { try self.lookUp(rest, lasts: lasts, rule, from: $0) }
    }
    guard let found else {
      // There is no disk cache, it fails, or the task was cancelled.
      for variant in rest { lookup.hits[variant] = heldHit(for: variant, of: source, rule) }
      lookup.history = SourceHistory().merged(with: recent[source])
      return lookup
    }
    lookup.hits.merge(found.hits) { $1 }
    lookup.history = found.history
    for case (let variant, .exact(var thumbnail)) in found.hits where inMemory?.contains(variant) != false {
      // What is not written yet has it still.
      thumbnail.thumbnail.microThumbnail = nil
      permit.perform {
        memory.insert(
          thumbnail.thumbnail, for: CacheKey(source: source, variant: variant), freshness: thumbnail.freshness)
      }
    }
    return lookup
  }

  /// What is on disk; where it is not, what memory holds, stale as it may be.
  private func lookUp(
    _ variants: [Variant], lasts: Bool, _ rule: FreshnessRule, from disk: SourceReading
  ) throws -> CacheLookup {
    let source = disk.source
    var lookup = CacheLookup()
    // Read first: should another process replace the image in between, the new one is taken for stale, which costs a
    // request, and not the other way round.
    let history = lasts ? SourceHistory() : try disk.history().merged(with: recent[source])
    let freshness = lasts ? .lasting : history.freshness(by: rule)
    lookup.history = history
    var stored: [Variant]?
    for variant in variants {
      if let thumbnail = try disk.thumbnail(variant) {
        lookup.hits[variant] = .exact(DatedThumbnail(thumbnail: thumbnail, freshness: freshness))
        continue
      }
      // What is stale in memory may have been renewed on disk by another process.
      if let held = heldHit(for: variant, of: source, rule), isUsable(held, rule) {
        lookup.hits[variant] = held
        continue
      }
      if stored == nil { stored = try disk.variants() }
      for larger in variant.shrinkable(among: stored ?? []) {
        guard let thumbnail = try disk.thumbnail(larger) else { continue }
        lookup.hits[variant] = .larger(larger, DatedThumbnail(thumbnail: thumbnail, freshness: freshness))
        break
      }
    }
    return lookup
  }

  /// A stale exact thumbnail counts, since nothing else has it; a larger one only while it is fresh.
  private func isUsable(_ hit: CacheLookup.Hit, _ rule: FreshnessRule) -> Bool {
    switch hit {
    case .exact: true
    case .larger(_, let larger): rule.admits(larger.freshness)
    }
  }

  /// What memory holds for a variant, fresh or stale.
  private func heldHit(for variant: Variant, of source: SourceKey, _ rule: FreshnessRule) -> CacheLookup.Hit? {
    if let held = memory.entry(for: CacheKey(source: source, variant: variant)) { return .exact(held) }
    let candidates = variant.shrinkable(among: memory.variants(of: source)).lazy.compactMap { larger in
      self.memory.entry(for: CacheKey(source: source, variant: larger)).map { (larger, $0) }
    }
    let fresh = candidates.first { rule.admits($0.1.freshness) } ?? candidates.first
    return fresh.map { .larger($0.0, $0.1) }
  }
}

extension Variant {
  /// Those from which this one can be made by shrinking, the smallest first.
  fileprivate func shrinkable(among variants: [Variant]) -> [Variant] {
    variants.filter { canBeShrunk(from: $0) }.sorted { $0.size.pixelCount < $1.size.pixelCount }
  }
}
