package import ThumbnailCore

/// The result of a look-up in both tiers for one source.
package struct CacheLookup: Sendable {
  /// A stored thumbnail that serves a variant.
  package enum Hit: Sendable {
    /// A thumbnail of the variant itself.
    case exact(DatedThumbnail)
    /// A larger thumbnail that can be shrunk to the variant.
    case larger(DatedThumbnail)
  }

  /// The hits, in the order of the variants; nil for a miss.
  package fileprivate(set) var hits: [Hit?]
  /// The history of the source. Nil if memory alone had all variants, so that nothing else was looked up.
  package fileprivate(set) var history: SourceHistory?
}

extension ThumbnailCache {
  /// Looks up all variants at once: in memory, then on disk, in one visit of one reader thread, which also reads the
  /// history of the source. Thumbnails from the disk are put into memory. If the task is cancelled, everything is a
  /// miss.
  ///
  /// - Parameters:
  ///   - lasts: Whether thumbnails of the source never become stale, such as those of a local file.
  ///   - permit: Permits changes of the caches.
  ///   - rule: Decides what is stale; nil for the cache's own.
  package func lookUp(
    _ variants: [Variant], of source: SourceKey, lasts: Bool = false,
    permit: StorePermit = StorePermit(), admittedBy rule: ReuseRule? = nil,
    priority: PriorityControl = PriorityControl(.visible)
  ) async -> CacheLookup {
    let rule = rule ?? self.rule
    // A job may have stored a thumbnail in memory since the caller looked there.
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
      // There is no disk cache, it has failed, or the task was cancelled.
      for index in rest { lookup.hits[index] = heldHit(for: variants[index], of: source, rule, mayBeStale: true) }
      lookup.history = SourceHistory().merged(with: recent[source])
      return lookup
    }
    lookup.history = found.history
    for (index, hit) in zip(rest, found.hits) {
      lookup.hits[index] = hit
      guard case .exact(let held) = hit else { continue }
      permit.perform {
        memory.insert(
          held.thumbnail, for: CacheKey(source: source, variant: variants[index]), freshness: held.freshness)
      }
    }
    return lookup
  }

  /// The hits on disk. If the disk lacks a variant, a larger fresh thumbnail from memory is used.
  private func lookUp(
    _ variants: [Variant], lasts: Bool, _ rule: ReuseRule, from disk: SourceReading
  ) throws -> CacheLookup {
    // The history is read before the thumbnails. If another process replaces the image in between, the new thumbnail is
    // taken for stale, which only costs a request.
    let history = lasts ? SourceHistory() : try disk.history().merged(with: recent[disk.source])
    let freshness = lasts ? .lasting : history.freshness(by: rule)
    var stored: [Variant]?
    let hits = try variants.map { variant -> CacheLookup.Hit? in
      if let thumbnail = try disk.thumbnail(variant) {
        return .exact(DatedThumbnail(thumbnail: thumbnail, freshness: freshness))
      }
      // A thumbnail that is stale in memory may have been renewed on disk by another process.
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

  /// The hit in memory for a variant: the variant itself, fresh or stale, or a larger thumbnail, which is fresh unless
  /// `mayBeStale`.
  private func heldHit(
    for variant: Variant, of source: SourceKey, _ rule: ReuseRule, mayBeStale: Bool
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
  /// The variants that can be shrunk to this one, smallest first.
  fileprivate func shrinkable(among variants: [Variant]) -> [Variant] {
    variants.filter { canBeShrunk(from: $0) }.sorted { $0.size.pixelCount < $1.size.pixelCount }
  }
}
