package import ThumbnailCore

/// What both tiers hold for the requests of one source.
package struct CacheLookup: Sendable {
  /// A stored thumbnail that serves a variant.
  package enum Hit: Sendable {
    /// The variant itself.
    case exact(DatedThumbnail)
    /// A larger one from which it can be made by shrinking.
    case larger(DatedThumbnail)
  }

  /// The hits, in the order of the variants; nil for a miss.
  package fileprivate(set) var hits: [Hit?]
  /// What is known of the source besides its thumbnails. Nil where memory alone served all variants, so that nothing else
  /// was looked up.
  package fileprivate(set) var history: SourceHistory?
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
    _ variants: [Variant], of source: SourceKey, lasts: Bool = false, inMemory: [Variant]? = nil,
    permit: StorePermit = StorePermit(), admittedBy rule: FreshnessRule? = nil,
    priority: PriorityControl = PriorityControl(.visible)
  ) async -> CacheLookup {
    let rule = rule ?? self.rule
    // One may have come into memory since the caller looked there, by a job that ended just now.
    var lookup = CacheLookup(
      hits: variants.map { variant in
        let held = memory.entry(for: CacheKey(source: source, variant: variant))
        return held.flatMap { rule.admits($0.freshness) ? .exact($0) : nil }
      })
    let rest = variants.indices.filter { lookup.hits[$0] == nil }
    if rest.isEmpty { return lookup }
    let found = await read(priority: priority) { disk in
      try disk.reading(source) { try self.lookUp(rest.map { variants[$0] }, lasts: lasts, rule, from: $0) }
    }
    guard let found else {
      // There is no disk cache, it fails, or the task was cancelled.
      for index in rest { lookup.hits[index] = heldHit(for: variants[index], of: source, rule, mayBeStale: true) }
      lookup.history = SourceHistory().merged(with: recent[source])
      return lookup
    }
    lookup.history = found.history
    for (index, hit) in zip(rest, found.hits) {
      lookup.hits[index] = hit
      guard case .exact(var held) = hit, inMemory?.contains(variants[index]) != false else { continue }
      // What is not written yet has it still.
      held.thumbnail.microThumbnail = nil
      permit.perform {
        memory.insert(
          held.thumbnail, for: CacheKey(source: source, variant: variants[index]), freshness: held.freshness)
      }
    }
    return lookup
  }

  /// What is on disk; where it is not, what memory holds, stale as it may be.
  private func lookUp(
    _ variants: [Variant], lasts: Bool, _ rule: FreshnessRule, from disk: SourceReading
  ) throws -> CacheLookup {
    // Read first: should another process replace the image in between, the new one is taken for stale, which costs a
    // request, and not the other way round.
    let history = lasts ? SourceHistory() : try disk.history().merged(with: recent[disk.source])
    let freshness = lasts ? .lasting : history.freshness(by: rule)
    var stored: [Variant]?
    let hits = try variants.map { variant -> CacheLookup.Hit? in
      if let thumbnail = try disk.thumbnail(variant) {
        return .exact(DatedThumbnail(thumbnail: thumbnail, freshness: freshness))
      }
      // What is stale in memory may have been renewed on disk by another process.
      if let held = heldHit(for: variant, of: disk.source, rule, mayBeStale: false) { return held }
      if stored == nil { stored = try disk.variants() }
      for larger in variant.shrinkable(among: stored ?? []) {
        guard let thumbnail = try disk.thumbnail(larger) else { continue }
        return .larger(DatedThumbnail(thumbnail: thumbnail, freshness: freshness))
      }
      return nil
    }
    return CacheLookup(hits: hits, history: history)
  }

  /// What memory holds for a variant: itself, fresh or stale, since nothing else has it; else a larger one, which is
  /// fresh unless it may be stale.
  private func heldHit(
    for variant: Variant, of source: SourceKey, _ rule: FreshnessRule, mayBeStale: Bool
  ) -> CacheLookup.Hit? {
    if let held = memory.entry(for: CacheKey(source: source, variant: variant)) { return .exact(held) }
    let larger = variant.shrinkable(among: memory.variants(of: source)).lazy.compactMap {
      self.memory.entry(for: CacheKey(source: source, variant: $0))
    }
    let fresh = larger.first { rule.admits($0.freshness) }
    return (fresh ?? (mayBeStale ? larger.first : nil)).map { .larger($0) }
  }
}

extension Variant {
  /// Those from which this one can be made by shrinking, the smallest first.
  fileprivate func shrinkable(among variants: [Variant]) -> [Variant] {
    variants.filter { canBeShrunk(from: $0) }.sorted { $0.size.pixelCount < $1.size.pixelCount }
  }
}
