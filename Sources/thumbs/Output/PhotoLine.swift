import CaptureDates
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// The JSON of a photo.
enum PhotoLine {
  /// All metadata of a photo, with the URL of the form for cells of 400×400, or of the original. Unknown values are
  /// left out. A file is read for its date.
  static func json(_ photo: Photo, original: Bool) -> JSONObject {
    let source = photo.source(for: PixelSize(400, 400), fit: .cover, original: original)
    let date = source.isUserFile ? try? DateReader.date(of: RawPath(fileURL: source.url)).date : nil
    return [
      "id": photo.id, "provider": photo.provider, "title": photo.title, "width": photo.size?.width,
      "height": photo.size?.height, "date": date?.text, "dateSource": date.map { "\($0.source)" },
      "credit": credit(photo),
      "url": PlainText.withoutPasswords(source.url.absoluteString),
    ]
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
    for (name, value) in members { object.add(name, value.map(PlainText.withoutPasswords)) }
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
