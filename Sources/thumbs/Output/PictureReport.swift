import CaptureDates
import Foundation
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// The outcome of one image: a line of `--json`, or, if it failed, an error message.
struct PictureReport {
  /// The outcomes.
  enum Status: String {
    /// Made in this run and stored.
    case stored
    /// Made in this run and not stored: the server forbids it, or the disk cache cannot be written.
    case made
    /// All thumbnails were in the memory cache.
    case memory
    /// All thumbnails were in the caches, some of them on disk.
    case disk
    /// All thumbnails were in the caches, and the stale ones were revalidated.
    case revalidated
    /// All thumbnails were in the caches, some of them stale: the server could not be reached, or allows their use
    /// during revalidation.
    case stale
    /// At least one thumbnail could not be made.
    case failed
  }

  let status: Status
  /// The first error; other thumbnails of the image may have succeeded.
  let error: (code: String, message: String)?
  /// The responses with the thumbnails that succeeded.
  private(set) var responses: [ThumbnailResponse] = []
  /// The paths of the thumbnails' files, in the same order; nil for those not exported.
  private var paths: [String?] = []

  /// Identifies the image: its id, and its URL if it has one.
  private let id: String
  private var url = ""
  private var duration = Duration.zero
  /// The photo, for its attribution; nil for an image of the user's own.
  private var photo: Photo?

  /// The outcome of an image of a search or a list, and the paths it was exported to.
  init(_ outcome: PhotoOutcome, paths: [String?] = []) {
    self.init(
      id: outcome.photo.id, source: outcome.source, results: outcome.results, duration: outcome.duration,
      photo: outcome.photo, paths: paths)
  }

  /// The outcome of one image's requests, with a result for each variant.
  init(
    id: String, source: ImageSource, results: [Result<ThumbnailResponse, ThumbnailError>], duration: Duration,
    photo: Photo? = nil, paths: [String?] = []
  ) {
    (self.id, url, self.duration, self.photo, self.paths) = (id, source.url.absoluteString, duration, photo, paths)
    responses = results.compactMap { try? $0.get() }
    let firstError = results.lazy.compactMap { result in
      if case .failure(let error) = result { error } else { nil }
    }.first
    error = firstError.map { ($0.code, $0.shownMessage) }
    status = error != nil ? .failed : Self.status(of: responses)
  }

  /// An unusable item of the source.
  init(_ item: SkippedItem) {
    (id, status, error) = (item.place, .failed, ("invalid-item", item.reason))
  }

  /// Whether a part of the image could not be decoded.
  var isDamaged: Bool { responses.contains(where: \.thumbnail.isDamaged) }

  /// The line of `--json`.
  var json: JSONObject {
    let source = responses.first?.thumbnail.source
    return [
      "id": PhotoLine.shown(id, of: photo), "line": photo?.line, "url": PhotoLine.shown(url, of: photo),
      "status": status.rawValue,
      "damaged": isDamaged.unlessFalse,
      "error": error.map { ["code": $0.code, "message": $0.message.withoutSecrets()] as JSONObject },
      "source": source.map { source -> JSONObject in
        [
          "width": source.size.width, "height": source.size.height, "bytes": source.byteCount,
          "downloaded": responses.map(\.downloadedBytes).max(), "left": responses.map(\.bytesLeft).max(),
        ]
      },
      "thumbnails": responses.enumerated().map {
        Self.json($1.thumbnail, path: paths.indices.contains($0) ? paths[$0] : nil)
      },
      "plan": responses.lazy.compactMap(\.plan).first,
      "preview": source?.preview?.rawValue,
      "ms": duration.milliseconds.rounded(toPlaces: 3),
      "credit": photo.flatMap(PhotoLine.credit),
    ]
  }

  private static func json(_ thumbnail: Thumbnail, path: String?) -> JSONObject {
    [
      "path": path, "width": thumbnail.size.width, "height": thumbnail.size.height,
      "format": thumbnail.format.rawValue, "bytes": thumbnail.data.count, "damaged": thumbnail.isDamaged.unlessFalse,
      "thumbHash": thumbnail.placeholder?.thumbHash.base64EncodedString(),
      "colour": thumbnail.placeholder.map { "#\($0.colour.hex)" },
    ]
  }

  private static func status(of responses: [ThumbnailResponse]) -> Status {
    // A revalidated thumbnail that may no longer be stored was still not made in this run.
    if responses.contains(where: { !$0.isStored && $0.origin != .revalidated }) { return .made }
    let origins = responses.map(\.origin)
    if origins.contains(where: { $0 == .source || $0 == .shrunk }) { return .stored }
    if origins.contains(.stale) { return .stale }
    if origins.contains(.revalidated) { return .revalidated }
    return origins.contains(.disk) ? .disk : .memory
  }
}

/// The JSON of a photo.
enum PhotoLine {
  /// All metadata of a photo, with the URL of the form for cells of 400×400, or of the original. Unknown values are
  /// left out. A file is read for its date.
  static func json(_ photo: Photo) -> JSONObject {
    let source = photo.source(for: PixelSize(400, 400), fit: .cover)
    let date = source.isUserFile ? try? DateReader.date(of: RawPath(fileURL: source.url)).date : nil
    return [
      "id": shown(photo.id, of: photo), "line": photo.line, "provider": photo.provider, "title": photo.title,
      "width": photo.size?.width,
      "height": photo.size?.height, "date": date?.text, "dateSource": date.map { "\($0.source)" },
      "credit": credit(photo),
      "url": shown(source.url.absoluteString, of: photo),
    ]
  }

  /// An address or an id. The user's own addresses may hold secrets, those of a service need their queries.
  static func shown(_ address: String, of photo: Photo?) -> String {
    photo.map { $0.line == nil } ?? false ? address.withoutLogins : address.withoutSecrets(isAddress: true)
  }

  /// The attribution of a photo; nil if there is none.
  static func credit(_ photo: Photo) -> JSONObject? {
    let members = [
      ("text", photo.attribution), ("author", photo.author), ("authorUrl", photo.authorURL?.absoluteString),
      ("licence", photo.licence?.name), ("licenceUrl", photo.licence?.url?.absoluteString),
      ("page", photo.pageURL?.absoluteString),
    ]
    guard members.contains(where: { $0.1 != nil }) else { return nil }
    var object = JSONObject()
    for (name, value) in members { object.add(name, value?.withoutLogins) }
    return object
  }

  /// The summary of a listing.
  static func summary(_ content: GalleryContent) -> JSONObject {
    [
      "pictures": content.items.count, "pages": content.pages, "total": content.total,
      "provider": content.provider, "offline": content.isOffline,
    ]
  }
}
