import CaptureDates
import Foundation
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// The contents of a folder at one moment: paths in natural order, and the known dates and cameras of images.
final class FolderListing: Sendable {
  /// The number of paths in memory at once while all are read.
  private static let chunk = 4096
  /// How many files are read before the time is looked at.
  private static let filesBetweenLooks = 16
  /// Times of files are steps of a clock that runs this coarsely, in nanoseconds, with a margin.
  private static let clockStep = 20e6

  let root: String
  private let paths: PathList
  /// For searches as one types. Nil without dates, as one search reads the list itself.
  private let folded: FoldedPaths?
  /// The dates and cameras by the path's index. If the file was not read, the date in its name or of its last change.
  /// Empty without dates.
  private let records: [FolderDates.Record]
  private let cameras: CameraNames
  /// The indices of RAW files and HEICs that JPEGs stand for.
  private let leftOut: Set<UInt32>
  /// The number of films, which are no images.
  let films: Int
  /// Empty without dates.
  private let tree: AlbumTree
  /// The indices of the files that are still to be read, ascending.
  private let unread: ArraySlice<UInt32>
  /// The folders, with their states at the time they were opened; nil for one that had just been changed, because
  /// another change within the same step of the clock would not be noticed.
  private let folders: [(path: RawPath, state: FileState?)]
  /// The indices of all images by date, once that was wanted: a search as one types sorts nothing.
  private let byDate = Memo<[UInt32]>()
  /// Of the folder's path.
  private let rootKey: UInt64

  var count: Int { paths.count }
  var skipped: [SkippedItem] { paths.skipped }

  /// The number of files that are still to be read for their dates.
  var unreadCount: Int { unread.count }
  /// The dates and cameras that were read.
  var read: FolderDates { FolderDates(records.filter { $0.key != 0 }, cameras: cameras) }

  func date(at index: Int) -> CaptureDate { records[index].date }

  /// What identifies the state of a file whose date was read; 0 for others.
  func key(at index: UInt32) -> UInt64 { records[Int(index)].key }

  /// Whether the date of every image is known.
  var isDated: Bool { unread.isEmpty }

  /// Lists the folder at an absolute path. Blocks.
  ///
  /// - Parameters:
  ///   - pairs: Whether a RAW file or HEIC beside its JPEG is left out.
  ///   - known: Dates that were read before; nil if dates are not wanted.
  init(
    root: String, extensions: Set<String>, pairs: Bool, known: FolderDates?, cancelled: CancellationFlag
  ) throws(ProviderError) {
    self.root = root
    rootKey = SHA256.hash(root.utf8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    var walk = FolderWalk(root: root, extensions: extensions)
    let settled = Date().timeIntervalSince1970 * 1e9 - Self.clockStep
    let paths = try walk.run(cancelled: cancelled)
    (self.paths, films) = (paths, walk.films)
    leftOut = try ProviderError.listing(root) { () throws(SystemFailure) in
      pairs ? try Self.paired(in: paths, walk.hidden) : []
    }
    folders = walk.folders.map { folder in
      (RawPath(root).appending(folder.path), Double(folder.state.modified) < settled ? folder.state : nil)
    }
    var (records, unread): ([FolderDates.Record], [UInt32]) = ([], [])
    var (tree, folded) = (AlbumTree(), FoldedPaths())
    if let known {
      records.reserveCapacity(paths.count)
      try ProviderError.listing(root) { () throws(SystemFailure) in
        for start in stride(from: 0, to: paths.count, by: Self.chunk) {
          if cancelled.isSet { throw SystemFailure(code: ECANCELED) }
          for record in try paths.paths(at: start..<min(start + Self.chunk, paths.count)) {
            tree.append(record)
            folded.append(record)
            // A file that has vanished meanwhile is not read.
            let state = try? FileState(of: RawPath(root).appending(record.path))
            let read = state.flatMap { known.record(of: FolderDates.key(of: record.path, $0)) }
            if read == nil, state != nil { unread.append(UInt32(records.count)) }
            let assumed = { CaptureDate(name: record.name) ?? CaptureDate(fileTime: state?.modified ?? 0) }
            records.append(read ?? FolderDates.Record(date: assumed()))
            if let state { records[records.count - 1].stamps = FilePrint.stamps(of: state) }
          }
        }
      }
    }
    (self.records, self.unread, cameras) = (records, unread[...], known?.cameras ?? CameraNames())
    (self.tree, self.folded) = (tree, known.map { _ in folded })
  }

  private init(
    _ listing: FolderListing, _ records: [FolderDates.Record], _ cameras: CameraNames, unread: ArraySlice<UInt32>
  ) {
    (root, rootKey, paths, folders) = (listing.root, listing.rootKey, listing.paths, listing.folders)
    (leftOut, films) = (listing.leftOut, listing.films)
    (tree, folded) = (listing.tree, listing.folded)
    (self.records, self.cameras, self.unread) = (records, cameras, unread)
  }

  /// The same listing with the dates of more files, read until a moment. Blocks.
  func readingDates(until end: ContinuousClock.Instant, cancelled: CancellationFlag) -> FolderListing {
    var (records, cameras, unread) = (records, cameras, unread)
    while !unread.isEmpty, !cancelled.isSet, ContinuousClock.now < end {
      let part = unread.prefix(Self.filesBetweenLooks)
      unread = unread.dropFirst(part.count)
      // Without the list nothing more can be read.
      guard let files = try? paths.paths(at: part.map(Int.init)) else { unread = []; break }
      for (index, file) in zip(part, files) {
        guard let found = try? DateReader.date(of: RawPath(root).appending(file.path)) else { continue }
        records[Int(index)] = FolderDates.Record(
          key: FolderDates.key(of: file.path, found.state), date: found.date, camera: cameras.number(of: found.camera),
          stamps: FilePrint.stamps(of: found.state))
      }
    }
    return FolderListing(self, records, cameras, unread: unread)
  }

  /// The same listing with files, by ascending indices, that are still to be read.
  func rereading(_ indices: [UInt32]) -> FolderListing {
    FolderListing(self, records, cameras, unread: indices[...])
  }

  /// What identifies the states of files now, by ascending indices; without those that have vanished.
  func keys(at indices: [Int]) throws(SystemFailure) -> [(index: UInt32, key: UInt64)] {
    try zip(indices, paths.paths(at: indices)).compactMap { index, record in
      let state = try? FileState(of: RawPath(root).appending(record.path))
      return state.map { (UInt32(index), FolderDates.key(of: record.path, $0)) }
    }
  }

  /// Whether any folder is in another state than when it was listed.
  func hasChanged() -> Bool {
    folders.contains { folder in
      guard let known = folder.state else { return true }
      return (try? FileState(of: folder.path)) != known
    }
  }

  func arrangement(
    of query: String, in album: String, order: FolderIndex.Order, hidden: Set<String>, prints: Set<String>,
    within isWithin: ((String) -> Bool)? = nil, cancelled: CancellationFlag
  ) throws(SystemFailure) -> FolderArrangement {
    var places = query.allSatisfy(\.isWhitespace) ? nil : try self.places(matching: query, cancelled)
    if !leftOut.isEmpty || !album.isEmpty {
      let images = album.isEmpty ? 0..<count : tree.images(of: album)
      places = (places ?? Array(0..<UInt32(count))).filter { images.contains(Int($0)) && !leftOut.contains($0) }
    }
    var (hiddenPaths, unprinted): ([String], [String]) = ([], [])
    let isSplit = !hidden.isEmpty || !prints.isEmpty || isWithin != nil
    if isSplit { (places, hiddenPaths, unprinted) = try split(places, hidden, prints, isWithin) }
    let sorted = self.sorted(places, by: order)
    let count = sorted?.count ?? count
    let whole = count > 0 ? [FolderArrangement.Section(title: nil, count: count)] : []
    let sections = order == .date ? months(of: sorted ?? []) : whole
    return FolderArrangement(
      sections: sections, hidden: hiddenPaths, unprinted: unprinted, albums: tree.albums(in: album, of: places),
      places: sorted, listing: self)
  }

  /// Ascending indices of images in an order; nil for all. By date the newest come first, and those of the same one in
  /// natural order.
  private func sorted(_ places: [UInt32]?, by order: FolderIndex.Order) -> [UInt32]? {
    if order == .name { return places }
    let all = byDate.value {
      (0..<UInt32(count)).sorted { (date(at: Int($1)).clock, $0) < (date(at: Int($0)).clock, $1) }
    }
    guard let places else { return all }
    var isPlace = [Bool](repeating: false, count: count)
    for place in places { isPlace[Int(place)] = true }
    return all.filter { isPlace[Int($0)] }
  }

  /// The indices except those of hidden paths or files, their paths, and those of these that lack a print.
  private func split(
    _ places: [UInt32]?, _ hidden: Set<String>, _ prints: Set<String>, _ isWithin: ((String) -> Bool)?
  ) throws(SystemFailure) -> (shown: [UInt32], hidden: [String], unprinted: [String]) {
    let stamps = records.isEmpty ? [] : FilePrint.stamps(of: prints)
    var (shown, leftOut, unprinted): ([UInt32], [String], [String]) = ([], [], [])
    let all = places ?? Array(0..<UInt32(count))
    for start in stride(from: 0, to: all.count, by: Self.chunk) {
      let part = all[start..<min(start + Self.chunk, all.count)]
      for (place, path) in zip(part, try paths.paths(at: part.map(Int.init))) {
        guard case let id = path.id, isWithin?(id) ?? true else { continue }
        let isNamed = hidden.contains(id)
        guard isNamed || !stamps.isEmpty && has(prints, stamps, Int(place), path.path) else {
          shown.append(place)
          continue
        }
        leftOut.append(id)
        if !isNamed || !records.isEmpty && mark(of: Int(place), path.path).map(prints.contains) == false {
          unprinted.append(id)
        }
      }
    }
    return (shown, leftOut, unprinted)
  }

  private func has(_ prints: Set<String>, _ stamps: Set<UInt32>, _ place: Int, _ path: ArraySlice<UInt8>) -> Bool {
    let own = records[place].stamps
    return stamps.contains(own.length)
      && FilePrint.ofContent(RawPath(root).appending(path), in: mark(of: place, path)).map(prints.contains) == true
      || stamps.contains(own.inode) && FilePrint.ofFile(RawPath(root).appending(path)).map(prints.contains) == true
  }

  /// Identifies a file of this folder in a state, and is kept with its prints then; nil if it has vanished.
  private func mark(of place: Int, _ path: ArraySlice<UInt8>) -> String? {
    let (file, read) = (RawPath(root).appending(path), records[place].key)
    let key = read != 0 ? read : (try? FileState(of: file)).map { FolderDates.key(of: path, $0) }
    return key.map { "k\(String($0 ^ rootKey, radix: 16))" }
  }

  /// The prints of the files of images; with the ids of those that are hidden without those of copies that are shown.
  func prints(of ids: [String], hidden: Set<String>?) -> [String] {
    guard !records.isEmpty, let found = try? Array(indices(of: ids).values).sorted(),
      case let lengths = hidden == nil ? [] : Set(found.map { records[$0].stamps.length }),
      case let alike = records.indices.filter({ lengths.contains(records[$0].stamps.length) }),
      let copies = try? paths.paths(at: alike), let paths = try? paths.paths(at: found)
    else { return [] }
    func prints(_ place: Int, _ path: ArraySlice<UInt8>) -> [String?] {
      let (file, mark) = (RawPath(root).appending(path), mark(of: place, path))
      return [FilePrint.ofContent(file, in: mark), mark, FilePrint.ofFile(file)]
    }
    var shown: Set<String?> = [nil]
    for (place, copy) in zip(alike, copies) where hidden?.contains(copy.id) == false {
      shown.formUnion(prints(place, copy.path))
    }
    return zip(found, paths).flatMap { place, path in
      let own = prints(place, path.path)
      return own.suffix(shown.contains(own[0]) ? 1 : 3).filter { !shown.contains($0) }
    }.compactMap(\.self)
  }

  private func places(matching query: String, _ cancelled: CancellationFlag) throws(SystemFailure) -> [UInt32] {
    let spellings = SearchText.spellings(of: query)
    let words = spellings.map(\.word)
    let months = words.map(Self.month)
    let folded = if let folded { folded } else { try FoldedPaths(paths) }
    let cameras = cameras.names.map { Array(SearchText.folded($0).utf8) }
    let areMonths = months.map(Self.mayBeMonth)
    let ofCameras = words.map { word in cameras.map { $0.contains(word) } }
    return try folded.indices(matching: words, or: spellings.map(\.paired), cancelled: cancelled) { word, index in
      guard index < records.count else { return false }
      let camera = Int(records[index].camera)
      return camera < cameras.count && ofCameras[word][camera] || areMonths[word] && isMonth(months[word], of: index)
    }
  }

  /// `2018-07` of `07/2018`, `7.2018` and `2018/7`; other words as they are.
  private static func month(_ word: [UInt8]) -> [UInt8] {
    let parts = word.split { "-./".utf8.contains($0) }
    let numbers = parts.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    guard parts.count == 2, numbers.count == 2,
      let (year, month) = [(numbers[0], numbers[1]), (numbers[1], numbers[0])]
        .first(where: { (1000...9999).contains($0) && (1...12).contains($1) })
    else { return word }
    return Array("\(year)-\(month < 10 ? "0" : "")\(month)".utf8)
  }

  /// Whether a word of a search begins a year or a month: `2021`, `2021-07`, `july`, `jul`, `juli`.
  private static func mayBeMonth(_ word: [UInt8]) -> Bool {
    word.count > 2
      && (word.allSatisfy { "-0123456789".utf8.contains($0) }
        || searchedMonths.contains { isPart(word, of: $0) })
  }

  /// Whether a word begins the English name of a month, or is four letters of one in another language or all of it:
  /// `out` and `set` are words of their own.
  private static func isPart(_ word: [UInt8], of names: [[UInt8]]) -> Bool {
    names[0].starts(with: word) || names.contains { $0 == word || word.count > 3 && $0.starts(with: word) }
  }

  /// Whether such a word begins the year or the month of an image.
  private func isMonth(_ word: [UInt8], of index: Int) -> Bool {
    let (year, month, _) = date(at: index).month
    return Self.isPart(word, of: Self.searchedMonths[month - 1])
      || "\(year)-\(month < 10 ? "0" : "")\(month)".utf8.starts(with: word)
  }

  /// The indices of the images with these ids, without those that are gone.
  func indices(of ids: [String]) throws(SystemFailure) -> [String: Int] {
    let paths = Dictionary(ids.map { ($0, RawPath(text: $0).bytes) }) { first, _ in first }
    let found = try self.paths.indices(of: Set(paths.values))
    return paths.compactMapValues { found[$0] }
  }

  func photos(at indices: [Int]) throws(SystemFailure) -> [Photo] {
    // Neighbours in the list are read in one go, so they are read in the list's order.
    let order = indices.indices.sorted { indices[$0] < indices[$1] }
    let found = try paths.paths(at: order.map { indices[$0] })
    return zip(order, found).sorted { $0.0 < $1.0 }.map { $1.photo(in: RawPath(root)) }
  }

  func withPaired(_ ids: [String]) -> [String] {
    var names = CompanionNames()
    for id in ids { names.add(RawPath(text: id)) }
    let paired = (try? paths.paths(at: leftOut.sorted().map(Int.init))) ?? []
    return ids + paired.filter { names.haveJPEG(beside: RawPath(bytes: $0.path)) }.map(\.id)
  }

  private static func paired(in paths: PathList, _ hidden: CompanionNames) throws(SystemFailure) -> Set<UInt32> {
    var (paired, names): (Set<UInt32>, CompanionNames) = ([], hidden)
    try paths.forEach { _, record in names.add(RawPath(bytes: record.path)) }
    try paths.forEach { index, record in
      if names.haveJPEG(beside: RawPath(bytes: record.path)) { paired.insert(UInt32(index)) }
    }
    return paired
  }

  private static let searchedMonths = CaptureDate.searchedMonths.map { $0.split(separator: " ").map { Array($0.utf8) } }

  /// One section for each month of the sorted images.
  private func months(of sorted: [UInt32]) -> [FolderArrangement.Section] {
    var sections: [FolderArrangement.Section] = []
    var rest = sorted[...]
    while let newest = rest.first {
      let date = date(at: Int(newest))
      let begin = date.month.begin
      let count = rest.prefix { self.date(at: Int($0)).clock >= begin }.count
      sections.append(.init(title: date.monthTitle, count: count))
      rest = rest.dropFirst(count)
    }
    return sections
  }
}
