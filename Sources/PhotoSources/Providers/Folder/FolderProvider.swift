import Foundation
import Synchronization

/// The images of a folder and its subfolders, searched by their paths.
///
/// A query matches if all its words occur in the path within the folder, ignoring case and diacritics. The order is the
/// same in every run: a folder's own images, then its subfolders, in natural order. The folder is listed once, at the
/// first search; files added later are not seen. Hidden files are left out. The list of a large folder is kept in an
/// unnamed file in `TMPDIR` or `/var/tmp`.
public final class FolderProvider: PhotoProvider {
  /// `folder`
  public let name = "folder"
  /// Searches and picks at random; reports the total.
  public let capabilities = ProviderCapabilities(picksRandom: true)
  /// The folder's absolute path.
  package var path: String { index.path }

  private let index: FolderIndex
  /// The last query and its results, since most searches are for the next page.
  private let last = Mutex<(query: String, found: FolderArrangement)?>(nil)

  /// The images under `path`, which is not accessed before the first search. A relative path is resolved against the
  /// current directory.
  ///
  /// - Parameter extensions: The file name extensions of images, without the dot; by default those of JPEG, PNG, WebP,
  ///   GIF, TIFF, HEIF and AVIF.
  public init(path: String, extensions: Set<String>? = nil) {
    index = FolderIndex(path: path, extensions: extensions, readsDates: false)
  }

  /// One page of the images whose paths contain all words of the query. A folder without images has one empty page.
  ///
  /// The first page reports the entries that could not be listed.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let start = cursor.map { Int($0.token) ?? -1 } ?? 0
    guard start >= 0 else {
      throw .badRequest(provider: name, reason: "this page cursor is not one of a folder")
    }
    let found = try await found(query.text)
    let first = min(start, found.count)
    let end = first + min(query.pageSize, found.count - first)
    return PhotoPage(
      photos: try await index.photos(at: Array(first..<end), of: found),
      next: end < found.count ? PageCursor("\(end)") : nil, total: found.count,
      skipped: start == 0 ? found.skipped : [])
  }

  /// Distinct random images of the folder.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    let all = try await found("")
    return try await index.photos(at: Self.picks(count, of: all.count), of: all)
  }

  private func found(_ query: String) async throws(ProviderError) -> FolderArrangement {
    if let known = last.withLock({ $0?.query == query ? $0?.found : nil }) { return known }
    let found = try await index.arrangement(of: query, order: .name)
    last.withLock { $0 = (query, found) }
    return found
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
