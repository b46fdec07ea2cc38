import PhotoSources
import Thumbnailer

/// The JSON of a photo.
enum PhotoLine {
  /// All metadata of a photo, with the URL of the form for cells of 400×400, or of the original. Unknown values are
  /// left out.
  static func json(_ photo: Photo, original: Bool) -> String {
    var object = JSONObject()
    object.add("id", photo.id)
    object.add("provider", photo.provider)
    if let title = photo.title { object.add("title", title) }
    if let size = photo.size {
      object.add("width", size.width)
      object.add("height", size.height)
    }
    if let credit = credit(photo) { object.add("credit", credit) }
    let source = photo.source(for: PixelSize(400, 400), fit: .cover, original: original)
    object.add("url", PlainText.withoutPasswords(source.url.absoluteString))
    return object.line
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
    for (name, value) in members { value.map { object.add(name, PlainText.withoutPasswords($0)) } }
    return object
  }

  /// The summary of a listing.
  static func summary(_ content: GalleryContent) -> String {
    var summary = JSONObject()
    summary.add("pictures", content.items.count)
    summary.add("pages", content.pages)
    if let total = content.total { summary.add("total", total) }
    summary.add("provider", content.provider)
    summary.add("offline", content.isOffline)
    var object = JSONObject()
    object.add("summary", summary)
    return object.line
  }
}
