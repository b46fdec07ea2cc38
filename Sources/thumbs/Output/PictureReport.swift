import Foundation
import Thumbnailer

/// One line of `--json`: what came of one picture.
struct PictureReport: Encodable {
  /// What came of a picture.
  enum Status: String, Encodable {
    /// Made now and stored.
    case stored
    /// All thumbnails were in the memory cache.
    case memory
    /// All thumbnails were in the caches, some of them on disk.
    case disk
    /// At least one thumbnail could not be made.
    case failed
  }

  struct Failure: Encodable {
    let code: String
    let message: String
  }

  struct Source: Encodable {
    let width: Int
    let height: Int
    let bytes: Int
    let downloaded: Int
  }

  struct Made: Encodable {
    let width: Int
    let height: Int
    let format: ImageFormat
    let bytes: Int
  }

  let id: String
  let url: String
  let status: Status
  let error: Failure?
  let source: Source?
  let thumbnails: [Made]
  let ms: Double

  init(_ outcome: PhotoOutcome) {
    let responses = outcome.results.compactMap { try? $0.get() }
    id = outcome.photo.id
    url = outcome.source.url.absoluteString
    error = outcome.firstError.map { Failure(code: $0.code, message: $0.message) }
    status = error != nil ? .failed : Self.status(of: responses.map(\.origin))
    source = responses.first.map {
      let description = $0.thumbnail.source
      return Source(
        width: description.size.width, height: description.size.height, bytes: description.byteCount,
        downloaded: responses.map(\.downloadedBytes).max() ?? 0)
    }
    thumbnails = responses.map {
      Made(
        width: $0.thumbnail.size.width, height: $0.thumbnail.size.height, format: $0.thumbnail.format,
        bytes: $0.thumbnail.data.count)
    }
    ms = outcome.duration.milliseconds.rounded(toPlaces: 3)
  }

  /// An item of the source that is no picture to be had.
  init(_ item: SkippedItem) {
    id = item.place
    url = ""
    status = .failed
    error = Failure(code: "invalid-item", message: item.reason)
    source = nil
    thumbnails = []
    ms = 0
  }

  private static func status(of origins: [ThumbnailResponse.Origin]) -> Status {
    if origins.contains(where: { $0 == .source || $0 == .shrunk }) { return .stored }
    return origins.contains(.disk) ? .disk : .memory
  }
}
