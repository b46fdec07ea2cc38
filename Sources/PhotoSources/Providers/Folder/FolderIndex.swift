package import CaptureDates
package import Foundation
import Synchronization
package import ThumbnailCore
import Thumbnailer

/// All images of a folder at once, for a gallery that jumps anywhere: counts first, photos by their position.
///
/// `FolderProvider` lists a folder once and reads it page by page; this also knows the dates, and notices changes. It
/// takes about 80 bytes an image in memory, in addition to the list that `FolderProvider` keeps in a file.
package final class FolderIndex: Sendable {
  /// The order of the images.
  package enum Order: String, Sendable, Codable, CaseIterable {
    /// The last taken first, in a section for each month.
    case date
    /// By path in natural order, in one section.
    case name
  }

  /// The name of the provider that the photos belong to.
  package static let provider = "folder"

  /// The folder's absolute path.
  package let path: String

  private struct State {
    var listing: FolderListing?
    var generation = 0
    /// The dates read from all files; nil before the first listing.
    var dates: FolderDates?
    /// The states of the listing's files for which dates were read again, by their indices: a file of which nothing can be
    /// read is read once.
    var reread: [UInt32: UInt64] = [:]
  }

  private let extensions: Set<String>
  private let state = Mutex(State())
  /// A single thread, so that a folder is not listed twice at once.
  private let pool = WorkerPool(name: "folder-index", threads: 1)
  /// Reads dates, which takes long for many files.
  private let dating = WorkerPool(name: "folder-dates", threads: 1)
  private let datesFile: FolderDatesFile?
  private let readsDates: Bool
  private let pairs: Bool

  /// The time for reading dates before a folder is shown, if it has so few files that this suffices for all.
  private let datesBefore: Duration
  private static let mostDatesBefore = 1000
  /// How often dates are stored while more are read, and the number of those that are left is reported.
  private static let storeInterval = Duration.seconds(2)

  /// The images under `path`, which is not accessed before the first arrangement. A relative path is resolved against
  /// the current directory.
  ///
  /// - Parameters:
  ///   - extensions: The file name extensions of images, without the dot; by default those of JPEG, PNG, WebP, GIF,
  ///     TIFF, HEIF and AVIF.
  ///   - pairs: Whether a RAW file or HEIC is left out if its JPEG is beside it.
  ///   - readsDates: Whether dates are read at all; if not, the only order is that of names.
  ///   - cacheDirectory: The folder in which dates are kept, so that each file is read once; nil to keep them in memory.
  package init(
    path: String, extensions: Set<String>? = nil, pairs: Bool = false,
    readsDates: Bool = true, cacheDirectory: URL? = nil, datesBefore: Duration = .milliseconds(60)
  ) {
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    (self.pairs, self.readsDates, self.datesBefore) = (pairs, readsDates, datesBefore)
    datesFile = cacheDirectory.map { [path = self.path] in FolderDatesFile(in: $0, of: path) }
    self.extensions = extensions ?? FolderWalk.pictureExtensions
  }

  /// The images that have all words of the query in their paths, months (`july 2021`) or cameras, in an order. The folder
  /// is listed at the first call.
  ///
  /// - Parameters:
  ///   - album: The path of a folder within this one, as of a `FolderAlbum`; empty for this one.
  ///   - hidden: The ids of photos to leave out.
  ///   - prints: The prints of files to leave out, whatever their paths (`FilePrint`).
  ///   - isWithin: Whether a photo's id belongs to the part that is wanted; nil for all of the folder.
  package func arrangement(
    of query: String, in album: String = "", order: Order, hidden: Set<String> = [], prints: Set<String> = [],
    within isWithin: (@Sendable (String) -> Bool)? = nil
  ) async throws(ProviderError) -> FolderArrangement {
    try await pool.provide { cancelled throws(ProviderError) in
      let listing = try self.current(cancelled)
      return try ProviderError.listing(self.path) { () throws(SystemFailure) in
        try listing.arrangement(
          of: query, in: album, order: order, hidden: hidden, prints: prints, within: isWithin, cancelled: cancelled)
      }
    }
  }

  /// The prints of the files of photos (`FilePrint`).
  ///
  /// - Parameter hidden: The ids of hidden photos, if those are to be left out of which copies are shown.
  package func prints(of ids: [String], hidden: Set<String>? = nil) async -> [String] {
    (try? await pool.provide { cancelled throws(ProviderError) in
      try self.current(cancelled).prints(of: ids, hidden: hidden)
    }) ?? []
  }

  /// Ids with those of the RAW files and HEICs that are left out beside their files.
  package func withPaired(_ ids: [String]) async -> [String] {
    (try? await pool.provide { cancelled throws(ProviderError) in try self.current(cancelled).withPaired(ids) }) ?? ids
  }

  /// Those of ids that are of files of this folder, as it was listed, which are still there.
  package func present(_ ids: [String]) async -> [String] {
    (try? await pool.provide { cancelled throws(ProviderError) in
      let listed = (try? self.current(cancelled).indices(of: ids)) ?? [:]
      return ids.filter { listed[$0] != nil && (try? FileState(of: self.file(of: $0))) != nil }
    }) ?? []
  }

  /// The photos at positions of an arrangement.
  func photos(at positions: [Int], of found: FolderArrangement) async throws(ProviderError) -> [Photo] {
    try await pool.provide { _ throws(ProviderError) in try found.photos(at: positions) }
  }

  /// A number that is raised when files were added to, removed from or renamed in the folder since it was listed; the
  /// next arrangement then lists it anew. It reads the state of each of its folders.
  package func currentGeneration() async -> Int {
    // The error of a cancelled task: nothing was checked.
    try? await pool.provide { _ throws(ProviderError) in
      self.state.withLock { state in
        guard let listing = state.listing, listing.hasChanged() else { return }
        (state.listing, state.reread) = (nil, [:])
        state.generation += 1
      }
    }
    return state.withLock { $0.generation }
  }

  /// The file of a photo, by its id.
  package func file(of id: String) -> RawPath { RawPath(path).appending(RawPath(text: id).bytes) }

  /// Reads the dates that the last listing lacks (`FolderArrangement.isDated`), unless the task is cancelled. The next
  /// arrangement has them.
  package func readDates() async {
    try? await dating.provide { cancelled throws(ProviderError) in
      while !cancelled.isSet, let listing = self.state.withLock({ $0.listing }), !listing.isDated {
        let new = listing.readingDates(until: .now + Self.storeInterval, cancelled: cancelled)
        let dates = self.keep(new, replacing: listing)
        self.datesFile?.write(dates)
      }
    }
  }

  /// Has the dates of images of an arrangement read again if their files were replaced in place, of which their folders
  /// tell nothing; the generation is raised then. It reads the state of each file.
  package func check(_ range: Range<Int>, of found: FolderArrangement) async {
    guard readsDates else { return }
    try? await pool.provide { _ throws(ProviderError) in
      let keys = try found.keys(in: range)
      self.state.withLock { state in
        guard let listing = state.listing, found.isOf(listing), listing.isDated else { return }
        let changed = keys.filter { listing.key(at: $0.index) != $0.key && state.reread[$0.index] != $0.key }
        if changed.isEmpty { return }
        for (index, key) in changed { state.reread[index] = key }
        state.listing = listing.rereading(changed.map(\.index))
        state.generation += 1
      }
    }
  }

  /// The number of files whose dates have been read, and of all, until these are the same; nil then.
  package var datesRead: [Int]? {
    state.withLock { $0.listing.flatMap { $0.isDated ? nil : [$0.count - $0.unreadCount, $0.count] } }
  }

  private func current(_ cancelled: CancellationFlag) throws(ProviderError) -> FolderListing {
    if let known = state.withLock({ $0.listing }) { return known }
    let known = readsDates ? state.withLock { $0.dates } ?? datesFile?.read() ?? FolderDates() : nil
    let listed = try FolderListing(
      root: path, extensions: extensions, pairs: pairs, known: known, cancelled: cancelled)
    let time = listed.unreadCount <= Self.mostDatesBefore ? datesBefore : .zero
    let new = listed.readingDates(until: .now + time, cancelled: cancelled)
    let dates = keep(new, replacing: nil)
    // The others are stored together with the dates that have not been read yet.
    if !listed.isDated, new.isDated { datesFile?.write(dates) }
    return new
  }

  /// Keeps a listing, in place of another unless that was replaced meanwhile, and the dates that were read.
  private func keep(_ new: FolderListing, replacing old: FolderListing?) -> FolderDates {
    let dates = new.read
    state.withLock { state in
      if state.listing === old { state.listing = new }
      state.dates = dates
    }
    return dates
  }
}

/// Images of a folder in an order, as they were when the folder was listed.
package struct FolderArrangement: Sendable {
  /// Neighbouring images under one title.
  package struct Section: Sendable, Hashable, Encodable {
    /// The title; nil for none.
    package let title: String?
    /// The number of images.
    package var count: Int

    package init(title: String?, count: Int) { (self.title, self.count) = (title, count) }
  }

  /// The sections, in order.
  package let sections: [Section]
  /// The number of images.
  package var count: Int { places?.count ?? listing.count }
  /// The paths of the images that are left out as hidden, by their paths or their files.
  package let hidden: [String]
  /// Those of them that lack a path or a print of what they are now.
  package let unprinted: [String]
  /// The folders that have some of these images, without folders in those.
  package let albums: [FolderAlbum]

  /// The entries that could not be listed.
  var skipped: [SkippedItem] { listing.skipped }
  /// The number of films in the folder, which are not shown.
  package var films: Int { listing.films }
  /// Whether the date of every image is known; else some come from files' names and times, and `readDates` reads them.
  package var isDated: Bool { listing.isDated }

  /// The images' indices in the listing; nil for all of them in the listing's own order.
  let places: [UInt32]?
  let listing: FolderListing

  /// The photos at positions of this arrangement, with their dates. Reads the list; positions beyond the end are left out.
  package func photos(in range: Range<Int>) throws(ProviderError) -> [DatedPhoto] {
    try photos(withIndices: range.clamped(to: 0..<count).map(index))
  }

  /// The first photo of each of the first albums, as `photos(in:)` has it.
  package func covers(most: Int) throws(ProviderError) -> [DatedPhoto] {
    try photos(withIndices: albums.prefix(most).map(\.cover))
  }

  package typealias DatedPhoto = (photo: Photo, date: CaptureDate)

  private func photos(withIndices indices: [Int]) throws(ProviderError) -> [DatedPhoto] {
    try ProviderError.listing(listing.root) { () throws(SystemFailure) in
      try zip(listing.photos(at: indices), indices).map { (photo, index) throws(SystemFailure) in
        (photo, listing.date(at: index))
      }
    }
  }

  /// The photos at positions, which must be within this arrangement.
  func photos(at positions: [Int]) throws(ProviderError) -> [Photo] {
    try ProviderError.listing(listing.root) { () throws(SystemFailure) in
      try listing.photos(at: positions.map(index))
    }
  }

  /// The indices of images in the listing, ascending, with what identifies the states of their files now.
  func keys(in range: Range<Int>) throws(ProviderError) -> [(index: UInt32, key: UInt64)] {
    try ProviderError.listing(listing.root) { () throws(SystemFailure) in
      try listing.keys(at: range.clamped(to: 0..<count).map(index).sorted())
    }
  }

  func isOf(_ listing: FolderListing) -> Bool { self.listing === listing }

  /// The index in the listing.
  private func index(at position: Int) -> Int { places.map { Int($0[position]) } ?? position }

  /// The positions of the photos with these ids, without those that are not among these. Takes linear time.
  package func positions(of ids: [String]) throws(ProviderError) -> [String: Int] {
    let found = try ProviderError.listing(listing.root) { () throws(SystemFailure) in try listing.indices(of: ids) }
    guard let places else { return found }
    let wanted = Set(found.values)
    let there = places.enumerated().filter { wanted.contains(Int($1)) }
    let positions = Dictionary(there.map { (Int($1), $0) }) { first, _ in first }
    return found.compactMapValues { positions[$0] }
  }
}
