package import ThumbnailCore

extension ThumbnailCache: PageStore {
  package func store(_ page: StoredPage) async {
    await write(.change { db, limits in try PageTable.store(page, limits, in: db) })
  }

  package func page(at place: PagePlace) async -> StoredPage? {
    let found = await read { try $0.read { try PageTable.page(at: place, in: $0) } ?? nil }
    if let found { stage(.change(isHint: true) { db, _ in try PageTable.use(found.row, in: db) }) }
    return found?.page
  }

  package func pageSizes(provider: String, query: String) async -> [Int] {
    await read { try $0.read { try PageTable.pageSizes(provider: provider, query: query, in: $0) } } ?? []
  }

  package func cachedPhotos(after mark: Int64?, count: Int) async -> CachedPhotos {
    await read { try $0.read { try PageTable.cachedPhotos(after: mark, count: count, in: $0) } } ?? CachedPhotos()
  }

  package func removePhoto(_ source: SourceKey) async {
    await write(.change { db, _ in try PageTable.removePhoto(source, in: db) })
  }
}
