import Foundation
import ThumbnailCache
import ThumbnailCore

/// What a folder held at one moment: paths in natural order, and the time of each file's last change.
final class FolderListing: Sendable {
  /// How many paths are held at once while all are gone through.
  private static let chunk = 4096
  /// Times of files are steps of a clock that runs this coarsely, in nanoseconds, with a margin.
  private static let clockStep = 20_000_000

  let root: String
  private let paths: PathList
  /// Seconds since 1970, by the path's index; 0 for a file that has vanished meanwhile.
  private let modified: [UInt32]
  /// The folders, with their states at the time they were opened; nil for one that had just been changed, since another
  /// change within the same step of the clock would not show.
  private let folders: [(path: RawPath, state: FileState?)]

  var count: Int { paths.count }
  var skipped: [SkippedItem] { paths.skipped }

  /// Lists the folder at an absolute path. Blocks.
  init(root: String, extensions: Set<String>, cancelled: CancellationFlag) throws(ProviderError) {
    self.root = root
    var walk = FolderWalk(root: root, extensions: extensions)
    let begun = Int(Date().timeIntervalSince1970 * 1e9)
    paths = try walk.run(cancelled: cancelled)
    folders = walk.folders.map { folder in
      (RawPath(root).appending(folder.path), folder.state.modified < begun - Self.clockStep ? folder.state : nil)
    }
    var modified: [UInt32] = []
    modified.reserveCapacity(paths.count)
    do throws(SystemFailure) {
      for start in stride(from: 0, to: paths.count, by: Self.chunk) {
        if cancelled.isSet { throw SystemFailure(code: ECANCELED) }
        for record in try paths.paths(at: start..<min(start + Self.chunk, paths.count)) {
          modified.append(Self.modificationTime(of: RawPath(root).appending(record.path)))
        }
      }
    } catch {
      if error.code == ECANCELED { throw .cancelled }
      throw .listFailed(root, error)
    }
    self.modified = modified
  }

  /// Whether any folder is in another state than when it was listed.
  func hasChanged() -> Bool {
    folders.contains { folder in
      guard let known = folder.state else { return true }
      return (try? FileState(of: folder.path)) != known
    }
  }

  func arrangement(
    of query: String, order: FolderIndex.Order, hidden: Set<String>, cancelled: CancellationFlag
  ) throws(SystemFailure) -> FolderArrangement {
    let words = SearchText.words(of: query)
    var places: [UInt32]?
    if !words.isEmpty {
      guard let found = try paths.indices(matching: words, cancelled: cancelled) else {
        throw SystemFailure(code: ECANCELED)
      }
      places = found
    }
    var leftOut: [String] = []
    if !hidden.isEmpty { (places, leftOut) = try split(places, hidden) }
    if order == .name {
      let count = places?.count ?? count
      let sections = count > 0 ? [FolderArrangement.Section(title: nil, count: count)] : []
      return FolderArrangement(self, places: places, sections: sections, hidden: leftOut)
    }
    var sorted = places ?? Array(0..<UInt32(count))
    // Of the same second: in natural order.
    sorted.sort { one, other in
      let (first, second) = (modified[Int(one)], modified[Int(other)])
      return first == second ? one < other : first > second
    }
    return FolderArrangement(self, places: sorted, sections: months(of: sorted), hidden: leftOut)
  }

  /// The indices without those of hidden paths, and these paths.
  private func split(
    _ places: [UInt32]?, _ hidden: Set<String>
  ) throws(SystemFailure) -> (shown: [UInt32], hidden: [String]) {
    var (shown, leftOut): ([UInt32], [String]) = ([], [])
    let all = places ?? Array(0..<UInt32(count))
    for start in stride(from: 0, to: all.count, by: Self.chunk) {
      let part = all[start..<min(start + Self.chunk, all.count)]
      for (place, id) in zip(part, try paths.paths(at: part.map(Int.init)).map(\.id)) {
        if hidden.contains(id) { leftOut.append(id) } else { shown.append(place) }
      }
    }
    return (shown, leftOut)
  }

  func photos(at indices: [Int]) throws(SystemFailure) -> [(photo: Photo, modified: Date)] {
    // Neighbours in the list are read in one go, so they are read in the list's order.
    let order = indices.indices.sorted { indices[$0] < indices[$1] }
    let found = try paths.paths(at: order.map { indices[$0] })
    var photos = [(photo: Photo, modified: Date)?](repeating: nil, count: indices.count)
    for (position, record) in zip(order, found) {
      let modified = Date(timeIntervalSince1970: Double(modified[indices[position]]))
      photos[position] = (record.photo(in: RawPath(root)), modified)
    }
    return photos.compactMap { $0 }
  }

  private static func modificationTime(of path: RawPath) -> UInt32 {
    var status = stat()
    guard path.withCString({ stat($0, &status) }) == 0 else { return 0 }
    return UInt32(clamping: status.st_mtim.tv_sec)
  }

  /// One section for each month of the sorted images, in the machine's time zone.
  private func months(of sorted: [UInt32]) -> [FolderArrangement.Section] {
    var sections: [FolderArrangement.Section] = []
    var count = 0
    var month = Month(year: 0, month: 0)
    var begin = time_t.max
    func close() { if count > 0 { sections.append(.init(title: month.title, count: count)) } }
    for place in sorted {
      let time = time_t(modified[Int(place)])
      if time < begin {
        close()
        (month, begin) = Month.containing(time)
        count = 0
      }
      count += 1
    }
    close()
    return sections
  }

  /// A month of a year.
  private struct Month {
    private static let names = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
      "December",
    ]
    /// `tm_year` counts from here.
    private static let firstYear = 1900

    let year: Int
    let month: Int

    var title: String { Self.names.indices.contains(month) ? "\(Self.names[month]) \(year)" : "" }

    /// The month of a time, and the time at which it begins.
    static func containing(_ time: time_t) -> (month: Month, begin: time_t) {
      var time = time
      var parts = tm()
      localtime_r(&time, &parts)
      let month = Month(year: Self.firstYear + Int(parts.tm_year), month: Int(parts.tm_mon))
      (parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (1, 0, 0, 0, -1)
      return (month, mktime(&parts))
    }
  }
}
