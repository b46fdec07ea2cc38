import CaptureDates
import HTTPServer
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// The images that a gallery page shows: those of a folder, or those of a search, which grow while the user scrolls.
protocol ImageList: Sendable {
  /// The newest state, and all later ones; a slow reader gets only the newest.
  var snapshots: AsyncStream<ListSnapshot> { get }
  /// The newest state.
  var current: ListSnapshot { get }

  /// The photos at positions of the version; positions beyond its end are left out. Nil if there is a newer version.
  func photos(in range: Range<Int>, version: Int) async throws(ProviderError) -> [ListedPhoto]?

  /// The positions of photos in the version, without those that are missing. Nil if there is a newer version.
  func positions(of ids: [String], version: Int) async throws(ProviderError) -> [String: Int]?

  func search(_ query: String) async
  func setOrder(_ order: FolderIndex.Order) async
  /// Shows a folder within the gallery's folder; the empty path is that itself.
  func setAlbum(_ path: String) async
  /// The first albums of the version, with the first photo of each. Nil if there is a newer version.
  func albums(version: Int, most: Int) async throws(ProviderError) -> [(album: FolderAlbum, cover: ListedPhoto)]?
  /// Tries again after a failure.
  func retry() async
  /// Leaves photos out from now on, and removes their thumbnails from the caches.
  func hide(_ ids: [String]) async throws(ServerResponse.Problem)
  /// Shows hidden photos again: these, or all hidden photos of the list. Returns them.
  func show(_ ids: [String]?) async -> [String]
  /// Reports the use of a photo to its source: see `PhotoProvider.reportUse(of:)`.
  func reportUse(of id: String) async
  /// Reports the images in view, and how many behind them are to be ready: a search continues in time, and a folder's
  /// files in view are looked at from time to time, after which there is a newer version if they were replaced.
  func showed(_ range: Range<Int>, ahead: Int) async
  /// Ends all work.
  func stop() async
}

extension ImageList {
  /// A search has no albums.
  func setAlbum(_ path: String) {}
  func albums(version: Int, most: Int) -> [(album: FolderAlbum, cover: ListedPhoto)]? { [] }
}

/// The state of a list for its page.
struct ListSnapshot: Sendable, Equatable, Encodable {
  enum State: String, Sendable, Encodable {
    case idle, loading, loaded, loadingNextPage, empty, failed, offline
  }

  /// Raised when positions no longer mean the same images. Within a version images are only appended.
  var version = 0
  var query = ""
  /// The path of the folder that is shown, within that of the gallery.
  var album = ""
  /// The number of albums in it.
  var albums = 0
  var state = State.idle
  /// The failure, and what to do about it.
  var message: String?
  /// Whether stored images are shown because the source cannot be reached.
  var offline = false
  /// The images that there are now.
  var count = 0
  /// The number of films in the folder, which are not shown.
  var films = 0
  /// The number of images of the source, if it reports it.
  var total: Int?
  /// Whether more follow when the last one is shown.
  var more = false
  var sections: [FolderArrangement.Section] = []
  /// The number of hidden images.
  var hidden = 0
  /// The files whose dates have been read, and all files, while others still have the times of their last changes.
  var dating: [Int]?
}

/// A photo at a position of a list.
struct ListedPhoto: Sendable {
  /// Identifies it within the list.
  let id: String
  let photo: Photo
  /// When it was taken, for files.
  var date: CaptureDate?
}
