import PhotoSources
import Thumbnailer

/// What is printed of a photo as JSON.
enum PhotoLine {
  /// All that is known of a photo, with the URL of the form that cells of 400×400 take, or of what was uploaded. What is
  /// not known is left out.
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

  /// Whom to name when the photo is shown; nil where nobody is known.
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

  /// What was listed in all.
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
