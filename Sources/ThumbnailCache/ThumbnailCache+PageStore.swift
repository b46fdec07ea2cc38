package import ThumbnailCore

extension ThumbnailCache: PageStore {
  package func store(_ page: StoredPage) async {
    await attempt { disk throws(DiskCacheError) in try await disk.store(page) }
  }

  package func page(at place: PagePlace) async -> StoredPage? {
    await read { disk throws(DiskCacheError) in try disk.page(at: place) }
  }

  package func pageSizes(provider: String, query: String) async -> [Int] {
    await read { disk throws(DiskCacheError) in try disk.pageSizes(provider: provider, query: query) } ?? []
  }

  package func cachedPhotos(after mark: Int64?, count: Int) async -> CachedPhotos {
    await read { disk throws(DiskCacheError) in try disk.cachedPhotos(after: mark, count: count) } ?? CachedPhotos()
  }

  package func removePhoto(_ source: SourceKey) async {
    await attempt { disk throws(DiskCacheError) in try await disk.removePhoto(source) }
  }
}
