import Foundation
import Synchronization
import ThumbnailCache
import ThumbnailCore

/// The images of a folder and its subfolders, searched by their paths.
///
/// A query matches if all its words occur in the path within the folder, ignoring case and diacritics. The order is the
/// same in every run: a folder's own images, then its subfolders, in natural order. The folder is listed once, at the
/// first search; files added later are not seen. Hidden files are left out. The list of a large folder is kept in an
/// unnamed file in `TMPDIR` or `/var/tmp`.
public final class FolderProvider: PhotoProvider {
  private struct State {
    var list: PathList?
    /// The last query and the indices of its results, since most searches are for the next page.
    var lastWords: [[UInt8]] = []
    var lastMatches: [UInt32] = []
  }

  /// `folder`
  public let name = "folder"
  /// Searches and picks at random; reports the total.
  public let capabilities = ProviderCapabilities(picksRandom: true)
  /// The folder's absolute path.
  public let path: String

  private let extensions: Set<String>
  private let state = Mutex(State())
  /// A single thread, so that concurrent searches do not list the folder twice.
  private let pool = WorkerPool(name: "folder", threads: 1)

  /// The images under `path`, which is not accessed before the first search. A relative path is resolved against the
  /// current directory.
  ///
  /// - Parameter extensions: The file name extensions of images, without the dot; by default those of JPEG, PNG, WebP,
  ///   GIF, TIFF, HEIF and AVIF.
  public init(path: String, extensions: Set<String>? = nil) {
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    self.extensions = extensions ?? FolderWalk.pictureExtensions
  }

  /// One page of the images whose paths contain all words of the query. A folder without images has one empty page.
  ///
  /// The first page reports what could not be listed.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let start = cursor.map { Int($0.token) ?? -1 } ?? 0
    guard start >= 0 else {
      throw .badRequest(provider: name, reason: "this page cursor is not one of a folder")
    }
    return try await pool.provide { cancelled throws(ProviderError) in
      try self.page(of: query, from: start, cancelled)
    }
  }

  /// Distinct random images of the folder.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    try await pool.provide { cancelled throws(ProviderError) in
      let list = try self.list(cancelled)
      return try self.photos(at: Self.picks(count, of: list.count), of: list)
    }
  }

  private func page(
    of query: PhotoQuery, from start: Int, _ cancelled: CancellationFlag
  ) throws(ProviderError) -> PhotoPage {
    let list = try list(cancelled)
    let matches = try matches(of: query.text, in: list, cancelled)
    let total = matches?.count ?? list.count
    let first = min(start, total)
    let end = first + min(query.pageSize, total - first)
    return PhotoPage(
      photos: try photos(at: (first..<end).map { place in matches.map { Int($0[place]) } ?? place }, of: list),
      next: end < total ? PageCursor("\(end)") : nil, total: total, skipped: start == 0 ? list.skipped : [])
  }

  private func list(_ cancelled: CancellationFlag) throws(ProviderError) -> PathList {
    if let list = state.withLock({ $0.list }) { return list }
    var walk = FolderWalk(root: path, extensions: extensions)
    let list = try walk.run(cancelled: cancelled)
    state.withLock { $0.list = list }
    return list
  }

  /// The indices of the matching images; nil for all.
  private func matches(
    of text: String, in list: PathList, _ cancelled: CancellationFlag
  ) throws(ProviderError) -> [UInt32]? {
    let words = SearchText.words(of: text)
    if words.isEmpty { return nil }
    if let known = state.withLock({ $0.lastWords == words ? $0.lastMatches : nil }) { return known }
    let found = try ProviderError.listing(path) { () throws(SystemFailure) in
      try list.indices(matching: words, cancelled: cancelled)
    }
    state.withLock { ($0.lastWords, $0.lastMatches) = (words, found) }
    return found
  }

  private func photos(at places: [Int], of list: PathList) throws(ProviderError) -> [Photo] {
    try ProviderError.listing(path) { () throws(SystemFailure) in
      try list.paths(at: places).map { $0.photo(in: RawPath(path)) }
    }
  }

  /// Distinct random indices. Uses no list of all indices if only a few are wanted.
  private static func picks(_ count: Int, of total: Int) -> [Int] {
    if count >= total / 2 { return Array((0..<total).shuffled().prefix(max(0, count))) }
    var seen: Set<Int> = []
    var picks: [Int] = []
    while picks.count < count {
      let place = Int.random(in: 0..<total)
      if seen.insert(place).inserted { picks.append(place) }
    }
    return picks
  }
}
