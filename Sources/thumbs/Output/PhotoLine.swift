import Thumbnailer

/// What `thumbs search --json` prints.
enum PhotoLine {
  /// All that is known of a photo. What is not known is left out.
  static func json(_ photo: Photo) -> String {
    var object = JSONObject()
    object.add("id", photo.id)
    object.add("provider", photo.provider)
    if let title = photo.title { object.add("title", title) }
    if let size = photo.size {
      object.add("width", size.width)
      object.add("height", size.height)
    }
    if let author = photo.author { object.add("author", author) }
    if let url = photo.authorURL { object.add("authorURL", url.absoluteString) }
    if let attribution = photo.attribution { object.add("attribution", attribution) }
    if let page = photo.pageURL { object.add("page", page.absoluteString) }
    if let licence = photo.licence {
      var terms = JSONObject()
      terms.add("name", licence.name)
      if let url = licence.url { terms.add("url", url.absoluteString) }
      object.add("licence", terms)
    }
    let source = photo.source(for: PixelSize(400, 400), fit: .cover)
    object.add("url", PlainText.withoutPasswords(source.url.absoluteString))
    return object.line
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
