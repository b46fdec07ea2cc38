package import Foundation
import Synchronization
package import ThumbnailCore

/// All images of a folder at once, for a gallery that jumps anywhere: counts first, photos by their position.
///
/// Where `FolderProvider` lists a folder once and goes through it page by page, this also knows the dates, and notices
/// changes. It takes about ten bytes an image in memory, beside the list that `FolderProvider` keeps in a file.
package final class FolderIndex: Sendable {
  /// The order of the images.
  package enum Order: String, Sendable, Codable, CaseIterable {
    /// The last changed first, in a section for each month.
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
  }

  private let extensions: Set<String>
  private let state = Mutex(State())
  /// A single thread, so that a folder is not listed twice at once.
  private let pool = WorkerPool(name: "folder-index", threads: 1)

  /// The images under `path`, which is not accessed before the first arrangement. A relative path is resolved against
  /// the current directory.
  ///
  /// - Parameter extensions: The file name extensions of images, without the dot; by default those of JPEG, PNG, WebP,
  ///   GIF, TIFF, HEIF and AVIF.
  package init(path: String, extensions: Set<String>? = nil) {
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    self.extensions = extensions.map { Set($0.map { $0.lowercased() }) } ?? FolderWalk.pictureExtensions
  }

  /// The images whose paths contain all words of the query, in an order. The folder is listed at the first call.
  ///
  /// - Parameter hidden: The ids of photos to leave out.
  package func arrangement(
    of query: String, order: Order, hidden: Set<String> = []
  ) async throws(ProviderError) -> FolderArrangement {
    try await pool.provide { cancelled throws(ProviderError) in
      let listing = try self.current(cancelled)
      do throws(SystemFailure) {
        return try listing.arrangement(of: query, order: order, hidden: hidden, cancelled: cancelled)
      } catch {
        throw error.code == ECANCELED ? .cancelled : .listFailed(self.path, error)
      }
    }
  }

  /// A number that is raised when files were added to, removed from or renamed in the folder since it was listed; the
  /// next arrangement then lists it anew. Asks for the state of each of its folders.
  package func currentGeneration() async -> Int {
    // The error of a cancelled task: nothing was looked at.
    try? await pool.provide { _ throws(ProviderError) in
      self.state.withLock { state in
        guard let listing = state.listing, listing.hasChanged() else { return }
        state.listing = nil
        state.generation += 1
      }
    }
    return state.withLock { $0.generation }
  }

  /// The file of a photo, by its id.
  package func file(of id: String) -> RawPath { RawPath(path).appending(RawPath(text: id).bytes) }

  private func current(_ cancelled: CancellationFlag) throws(ProviderError) -> FolderListing {
    if let known = state.withLock({ $0.listing }) { return known }
    let new = try FolderListing(root: path, extensions: extensions, cancelled: cancelled)
    state.withLock { $0.listing = new }
    return new
  }
}

/// Images of a folder in an order, as they were when the folder was listed.
package struct FolderArrangement: Sendable {
  /// Neighbouring images under one title.
  package struct Section: Sendable, Hashable {
    /// The title; nil for none.
    package let title: String?
    /// The number of images.
    package let count: Int
  }

  /// The sections, in order.
  package let sections: [Section]
  /// The number of images.
  package let count: Int
  /// The paths of the images that are left out as hidden.
  package let hidden: [String]

  /// The images' indices in the listing; nil for all of them in the listing's own order.
  private let places: [UInt32]?
  private let listing: FolderListing

  init(_ listing: FolderListing, places: [UInt32]?, sections: [Section], hidden: [String]) {
    (self.listing, self.places, self.sections, self.hidden) = (listing, places, sections, hidden)
    count = places?.count ?? listing.count
  }

  /// The photos at positions of this arrangement, with the times of their last changes. Reads the list; positions beyond
  /// the end are left out.
  package func photos(in range: Range<Int>) throws(ProviderError) -> [(photo: Photo, modified: Date)] {
    let range = range.clamped(to: 0..<count)
    let indices = range.map { position in places.map { Int($0[position]) } ?? position }
    do throws(SystemFailure) {
      return try listing.photos(at: indices)
    } catch {
      throw .listFailed(listing.root, error)
    }
  }
}
