import Foundation
import HTTPServer
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// The images of a folder, all at once.
actor FolderList: ImageList {
  /// The interval of the checks for changes of the folder, and how many of them there are for each of the files in view:
  /// one that grows is not shown again all the time.
  private static let watchInterval = Duration.seconds(2)
  private static let checksPerFile = 3
  /// The images whose files are looked at, at most: more than a page shows.
  private static let mostChecked = 256

  nonisolated var snapshots: AsyncStream<ListSnapshot> { hub.subscribe() }
  nonisolated var current: ListSnapshot { hub.current }

  private let index: FolderIndex
  private let pipeline: ThumbnailPipeline
  private let hidden: HiddenPhotos
  /// Whether a photo's id is among those of the link that shows the list; nil without a link.
  private let isWithin: (@Sendable (String) -> Bool)?
  private let hub = LatestValue(ListSnapshot())
  private var order: FolderIndex.Order
  private var snapshot = ListSnapshot()
  private var arrangement: FolderArrangement?
  /// The generation of the hidden photos that the newest arrangement leaves out.
  private var hiddenGeneration = 0
  /// The images in view, whose files are looked at with each check.
  private var shown = 0..<0
  private var arranging: Task<Void, Never>?
  private var watching: Task<Void, Never>?

  init(
    _ index: FolderIndex, order: FolderIndex.Order, album: String, pipeline: ThumbnailPipeline, hidden: HiddenPhotos,
    link: ShareLink?
  ) {
    (self.index, self.order, self.pipeline, self.hidden) = (index, order, pipeline, hidden)
    isWithin = link.map { link in { @Sendable id in link.contains(id) } }
    snapshot.album = album
  }

  func search(_ query: String) {
    if watching == nil { watch() }
    snapshot.query = query
    arrange(showingProgress: true)
  }

  func setOrder(_ order: FolderIndex.Order) {
    self.order = order
    arrange(showingProgress: false)
  }

  func setAlbum(_ path: String) {
    snapshot.album = path
    arrange(showingProgress: true)
  }

  func albums(version: Int, most: Int) throws(ProviderError) -> [(album: FolderAlbum, cover: ListedPhoto)]? {
    guard version == snapshot.version, let arrangement else { return nil }
    return zip(arrangement.albums, try arrangement.covers(most: most)).map { ($0, Self.listed($1)) }
  }

  func retry() { arrange(showingProgress: true) }

  func photos(in range: Range<Int>, version: Int) throws(ProviderError) -> [ListedPhoto]? {
    guard version == snapshot.version, let arrangement else { return nil }
    return try arrangement.photos(in: range).map(Self.listed)
  }

  private static func listed(_ found: FolderArrangement.DatedPhoto) -> ListedPhoto {
    ListedPhoto(id: found.photo.id, photo: found.photo, date: found.date)
  }

  func positions(of ids: [String], version: Int) throws(ProviderError) -> [String: Int]? {
    guard version == snapshot.version, let arrangement else { return nil }
    return try arrangement.positions(of: ids)
  }

  func hide(_ ids: [String]) async throws(ServerResponse.Problem) {
    let there = await index.present(ids)
    let all = await index.withPaired(there)
    try await hidden.insert(all)
    try await hidden.prints?.insert(index.prints(of: all, hidden: hidden.ids))
    arrange(showingProgress: false)
    // All sizes of a photo have the same key.
    for id in all { await pipeline.remove(ImageSource.file(at: index.file(of: id))) }
    if there.count < ids.count {
      throw .init(.conflict, "moved", "what was moved or removed a moment ago is not hidden; see whether it is there")
    }
  }

  func show(_ ids: [String]?) async -> [String] {
    let shown = ids ?? arrangement?.hidden ?? []
    let all = await index.withPaired(shown)
    // First: an arrangement that begins now would take those without a path for moved, and hide them.
    await hidden.prints?.remove(index.prints(of: all))
    await hidden.remove(all)
    arrange(showingProgress: false)
    return shown
  }

  func reportUse(of id: String) {}

  /// A folder's images are all there, but may be replaced.
  func showed(_ range: Range<Int>, ahead: Int) { shown = range.prefix(Self.mostChecked) }

  func stop() {
    arranging?.cancel()
    watching?.cancel()
    hub.finish()
  }

  /// Arranges the images anew. The old list stays until the new one is ready.
  private func arrange(showingProgress: Bool) {
    arranging?.cancel()
    if showingProgress {
      snapshot.state = .loading
      hub.send(snapshot)
    }
    let (hiddenIDs, generation) = hidden.current
    hiddenGeneration = generation
    arranging = Task { [weak self, index, order, isWithin, snapshot, hidden] in
      let result: Result<FolderArrangement, ProviderError>
      do throws(ProviderError) {
        result = .success(
          try await index.arrangement(
            of: snapshot.query, in: snapshot.album, order: order, hidden: hiddenIDs,
            prints: hidden.prints?.current.ids ?? [], within: isWithin))
      } catch {
        result = .failure(error)
      }
      guard !Task.isCancelled else { return }
      // From now on by their paths, so that their files are not read again, and by what they have become.
      if let new = try? result.get().unprinted, !new.isEmpty, hidden.current.generation == generation {
        try? await hidden.insert(new)
        try? await hidden.prints?.insert(index.prints(of: new, hidden: hidden.current.ids))
      }
      await self?.take(result)
      guard (try? result.get().isDated) == false else { return }
      // The list so far is ordered by the files' times: it is ordered again when the images' own dates are known.
      await index.readDates()
      if !Task.isCancelled { await self?.arrange(showingProgress: false) }
    }
  }

  private func take(_ result: Result<FolderArrangement, ProviderError>) {
    // It has failed again.
    if case .failure = result, snapshot.state == .failed { return }
    snapshot.version += 1
    snapshot.message = nil
    switch result {
    case .success(let new):
      arrangement = new
      snapshot.state = new.count > 0 ? .loaded : .empty
      snapshot.count = new.count
      snapshot.total = new.count
      (snapshot.hidden, snapshot.albums) = isWithin == nil ? (new.hidden.count, new.albums.count) : (0, 0)
      snapshot.films = isWithin == nil && snapshot.album.isEmpty && snapshot.query.isEmpty ? new.films : 0
      snapshot.dating = isWithin != nil || new.isDated ? nil : index.datesRead
      snapshot.sections = new.sections
      if new.count == 0 {
        snapshot.message =
          snapshot.query.isEmpty
          ? "There are no pictures in this folder."
          : "No picture's name, folder, month or camera has “\(snapshot.query)” in it."
            + (new.isDated ? "" : " Months and cameras are still being read.")
      }
    case .failure:
      arrangement = nil
      snapshot.state = .failed
      (snapshot.count, snapshot.total, snapshot.sections, snapshot.albums) = (0, nil, [], 0)
      snapshot.dating = nil
      // The error's message names the folder.
      snapshot.message = "The pictures cannot be read at the moment. Their disk may be away, or closed to this gallery."
    }
    hub.send(snapshot)
  }

  private func watch() {
    watching = Task { [weak self, index] in
      var generation = await index.currentGeneration()
      var checks = 0
      while (try? await Task.sleep(for: Self.watchInterval)) != nil {
        checks += 1
        if checks % Self.checksPerFile == 0, let view = await self?.view {
          await index.check(view.shown, of: view.list)
        }
        let current = await index.currentGeneration()
        await self?.follow(hasChanged: current != generation)
        generation = current
      }
    }
  }

  private var view: (shown: Range<Int>, list: FolderArrangement)? { arrangement.map { (shown, $0) } }

  /// Arranges the images anew if the folder has changed, another list has hidden or shown some, or the folder could not
  /// be listed, as that of a disk that was unplugged.
  private func follow(hasChanged: Bool) {
    if hasChanged || snapshot.state == .failed || hiddenGeneration != hidden.current.generation {
      arrange(showingProgress: false)
    } else if snapshot.dating != nil, snapshot.dating != index.datesRead {
      snapshot.dating = index.datesRead
      hub.send(snapshot)
    }
  }
}
