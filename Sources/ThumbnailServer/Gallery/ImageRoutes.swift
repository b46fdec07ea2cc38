import CaptureDates
import Foundation
import HTTPServer
import HTTPTransport
import NIOHTTP1
import PhotoSources
import Synchronization
import ThumbnailCore
import Thumbnailer

/// The images of galleries, by key: `/picture/KEY/400x400-cover`, and for files also `/picture/KEY/original`,
/// `/picture/KEY/details` and windows of the original, `/picture/KEY/1024x1024+2048+0-512x512`.
struct ImageRoutes: Sendable {
  private typealias Problem = ServerResponse.Problem

  let registry: ImageRegistry
  let thumbnails: ThumbnailResponder
  let hidden: HiddenPhotos
  /// Reads details, for which it waits for the disk.
  private let reading = WorkerPool(name: "picture-details", threads: 1)

  /// The response to a request below `/picture`; the path without that: at once if the thumbnail is in memory. A link
  /// shows the thumbnails of its photos only, unless they are hidden, or marked as hidden since they were listed.
  func timedResponse(to request: ServerRequest, path: [Substring], _ link: ShareLink?) -> TimedResponse {
    // For links, folders are looked at first.
    let found = link == nil ? thumbnail(path, nil) : nil
    if let (source, form) = found, !form.isWindow,
      case let storing = storing(source, path[0]),
      let hit = thumbnails.cached(source, form.variant, storing, for: request, extra: Self.ownPagesOnly)
    {
      return .now(hit)
    }
    return .later { await response(to: request, path: path, found, link) }
  }

  private func response(
    to request: ServerRequest, path: [Substring], _ found: (source: ServedSource, form: GalleryForm)?,
    _ link: ShareLink?
  ) async -> ServerResponse {
    if link != nil, let photo = registry.photo(path.first ?? "")?.photo, let file = Self.file(of: photo) {
      let place = RawPath(text: photo.id).bytes
      let root = RawPath(bytes: file.bytes.dropLast(place.count))
      if await reading.runToEnd({ DirectoryWalk.passesOver(place, in: root) }) { return .problem(.notFound) }
    }
    if let (source, form) = link == nil ? found : thumbnail(path, link) {
      let made = await thumbnails.made(
        source, form.variant, storing(source, path[0]), for: request, options: form.options, extra: Self.ownPagesOnly)
      // That nothing can be cut is no fault, which browsers would report.
      return form.isWindow && made.status == .badRequest ? .noContent : made
    }
    guard path.count == 2, link == nil, let listed = registry.photo(path[0]), let file = Self.file(of: listed.photo)
    else { return .problem(.notFound) }
    switch path[1] {
    case "original": return original(file, for: request)
    case "film": return .problem(Problem(.gone, "removed", "films are not shown any more"))
    case "details": return await reading.runToEnd { details(file) }
    default: return .problem(.notFound)
    }
  }

  /// No other page can find out the contents of a gallery.
  private static let ownPagesOnly: HTTPHeaders = ["cross-origin-resource-policy": "same-origin"]

  /// The form bounds the work, so that nothing else has to.
  private func thumbnail(_ path: [Substring], _ link: ShareLink?) -> (source: ServedSource, form: GalleryForm)? {
    guard path.count == 2, let form = GalleryForm(path[1]), let listed = registry.photo(path[0]),
      link.map({ $0.contains(listed.photo.id) && !hidden.current.ids.contains(listed.photo.id) }) ?? true
    else { return nil }
    let source = ServedSource(registry.source(of: listed.photo, for: form.variant), isSigned: true)
    // An image of the web would be downloaded again for each of its windows; and a link shows no original.
    return form.isWindow && (!source.image.isUserFile || link != nil) ? nil : (source, form)
  }

  /// A changed file has a new key, under which it is stored; images of web servers are revalidated after a day.
  private func storing(_ source: ServedSource, _ key: Substring) -> String {
    guard source.image.url.isFileURL else { return "private, max-age=86400" }
    return source.image.key.hex == key ? "private, max-age=31536000, immutable" : "no-store"
  }

  private static let fileIsGone = Problem(.notFound, "not-found", "the file is not there any more")

  /// The file of a photo in a folder; nil for others.
  private static func file(of photo: Photo) -> RawPath? {
    let url = photo.source(for: PixelSize(1, 1), fit: .cover).url
    return photo.provider == FolderIndex.provider && url.isFileURL ? RawPath(fileURL: url) : nil
  }

  /// The length of a file in bytes, and what its EXIF data contains about the shot.
  private func details(_ path: RawPath) -> ServerResponse {
    guard let (descriptor, state) = path.opened() else { return .problem(Self.fileIsGone) }
    let (date, shot) = DateReader.details(in: .file(FileDescriptor(owning: descriptor), count: state.byteCount))
    return .json([
      "aperture": shot.aperture, "bytes": state.byteCount, "camera": shot.camera, "exposureTime": shot.exposureTime,
      "focalLength": shot.focalLength, "latitude": shot.place?.latitude, "lens": shot.lens,
      "longitude": shot.place?.longitude, "sensitivity": shot.sensitivity, "taken": date?.text,
    ])
  }

  /// A file as it is, or a part of it.
  private func original(_ path: RawPath, for request: ServerRequest) -> ServerResponse {
    guard let (descriptor, state) = path.opened() else { return .problem(Self.fileIsGone) }
    return .file(
      descriptor, state,
      headers: [
        "content-type": "application/octet-stream", "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox", "cross-origin-resource-policy": "same-origin",
        "content-disposition": ContentDisposition.attachment(named: String(decoding: path.name, as: UTF8.self)),
      ], to: request)
  }
}

/// The photos that galleries have shown, by the keys in the addresses of their images. Only these are served there, so
/// no such address makes the server fetch anything else.
final class ImageRegistry: Sendable {
  /// At least half as many of the photos shown last are known.
  private static let mostKnown = 200_000

  private let headers: HostHeaders
  private let photos = Mutex(Generations<String, ListedPhoto>(limit: mostKnown))

  init(headers: HostHeaders) { self.headers = headers }

  /// Admits a photo, and returns its key: that of its image in the cache, the same for all its sizes.
  func admit(_ listed: ListedPhoto) -> SourceKey {
    let key = key(of: listed.photo)
    photos.withLock { $0.insert(listed, for: key.hex) }
    return key
  }

  /// The key of a photo's image in the cache.
  func key(of photo: Photo) -> SourceKey { photo.source(for: PixelSize(1, 1), fit: .cover).adding(headers).key }

  /// The photo of a key.
  func photo(_ key: some StringProtocol) -> ListedPhoto? {
    photos.withLock { $0.use(String(key)) }
  }

  /// The image of a photo in the smallest form that is large enough for a thumbnail.
  func source(of photo: Photo, for variant: Variant) -> ImageSource {
    photo.source(for: variant.size, fit: variant.fit).adding(headers)
  }
}

/// A form of a gallery's image, as in its address: `400x400-cover`, or for a window the part and the size to which it is
/// reduced: `1024x1024+2048+0-512x512`.
struct GalleryForm: Hashable, Sendable {
  /// The largest side that is made for a page.
  private static let longestSide = 4096
  /// The largest side of a window.
  private static let windowSide = 512

  let variant: Variant

  /// Whether it is a part of the original.
  var isWindow: Bool { variant.framing.crop != nil }

  /// Windows are not stored, and made only of images from which they can be cut.
  var options: RequestOptions {
    var options = RequestOptions(cacheMode: isWindow ? .noStore : nil)
    options.isCutOnly = isWindow
    return options
  }

  private init(variant: Variant) { self.variant = variant }

  init?(box: some StringProtocol, fit: some StringProtocol) {
    guard let size = PixelSize(parsing: box), size.isValidThumbnailSize, size.longerSide <= Self.longestSide,
      let fit = Fit(rawValue: String(fit))
    else { return nil }
    self.init(variant: Variant(size: size, fit: fit))
  }

  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    guard parts[0].contains("+") else {
      self.init(box: parts[0], fit: parts[1])
      return
    }
    guard let crop = Framing.Crop(parsing: parts[0]), let size = PixelSize(parsing: parts[1]),
      size.isValidThumbnailSize, size.longerSide <= Self.windowSide
    else { return nil }
    var framing = Framing()
    framing.crop = crop
    self.init(variant: Variant(size: size, fit: .fill, framing: framing))
  }
}
