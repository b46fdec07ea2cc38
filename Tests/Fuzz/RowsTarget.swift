import Foundation
import GRDB

@testable import HTTPSemantics
@testable import ThumbnailCache
@testable import ThumbnailCore

/// What is read out of the cache's tables: the input changes columns of the rows of one image to values of any type.
/// That may cost this image, never another one nor the process.
func fuzzRows(_ input: FuzzInput) {
  do {
    try CacheFixture.shared.damaged(by: input.bytes) { db, cache in
      try checkReading(db, cache)
      try db.inSavepoint {
        try checkEviction(db, cache)
        return .rollback
      }
    }
  } catch {
    failFuzzing("\(error)")
  }
}

/// Look-ups never fail, and what belongs to the sound image is all there.
private func checkReading(_ db: Database, _ cache: CacheFixture) throws {
  for image in [cache.victim, cache.sound] {
    if case .hit(let thumbnail, _) = try ThumbnailTable.thumbnail(for: image.key, in: db) {
      require(thumbnail.data == image.thumbnail.data && thumbnail.size == image.thumbnail.size, "other bytes are a hit")
      let source = thumbnail.source
      require(source.size.width > 0 && source.size.height > 0 && source.byteCount > 0, "a hit of \(source)")
    } else {
      require(image.key != cache.sound.key, "a sound thumbnail is lost")
    }
    let history = try HistoryTable.history(of: image.key.source, in: db)
    for response in history.responses {
      let times = [response.freshness.confirmed, response.freshness.expires].map(\.timeIntervalSince1970)
      require(times.allSatisfy { abs($0) < 1e12 }, "a response of \(times)")
    }
    require(image.key != cache.sound.key || history == cache.history, "another history: \(history)")
    let variants = try ThumbnailTable.variants(of: image.key.source, in: db)
    require(image.key != cache.sound.key || variants == [image.key.variant], "other variants: \(variants)")
    for variant in variants { require(Variant(token: variant.token) == variant, "\(variant.token)") }
    if let (_, page) = try PageTable.page(at: image.page.place, in: db) {
      require(abs(page.fetchedAt.timeIntervalSince1970) < 1e12, "a page of \(page.fetchedAt)")
      require(image.key != cache.sound.key || page.photos.contains(image.page.photos[0]), "a sound photo is lost")
    } else {
      require(image.key != cache.sound.key, "a sound page is lost")
    }
    _ = try PageTable.pageSizes(provider: image.page.place.provider, query: image.page.place.query, in: db)
  }
  let cached = try PageTable.cachedPhotos(after: nil, count: 10, in: db)
  require(cached.photos.contains(cache.sound.page.photos[0]), "a sound photo is not listed")
  var pages = SourcePages(SourceFilter())
  let entries = try pages.next(10, in: db)
  require(entries.contains { $0.key == cache.sound.key.source }, "a sound image is not listed")
  // These report the cache as damaged, and may fail, but not trap.
  _ = try? DiskCacheStatistics(in: db, path: "")
  _ = try? Eviction.startOfFewSurvivors(bytes: 0, in: db)
}

/// Eviction ends, and with it all thumbnails.
private func checkEviction(_ db: Database, _ cache: CacheFixture) throws {
  let eviction = Eviction(limits: DiskCacheLimits(byteLimit: 0))
  try PageTable.evict(to: eviction.limits, in: db)
  for _ in 0..<10 where try !eviction.evict(in: db, toPayload: 0, atMost: 512) {}
}
