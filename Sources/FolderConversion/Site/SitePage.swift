import CaptureDates
import Exports
import ThumbnailCore

/// A page of an album: plain HTML with relative links, which works without script, from any server and from files.
struct SitePage {
  /// The most cells of a page.
  static let most = 300

  /// The title of the whole site.
  let title: String
  let album: SiteAlbum
  /// The number of the page, from 1, and of all pages of the album.
  let (number, count): (Int, Int)
  let albums: [(album: SiteAlbum, cover: SitePicture?)]
  let pictures: [SitePicture]

  /// The way to the first page's folder: `../../`.
  private var root: String { Self.up(album.names.count) }
  private var name: String { album.names.last ?? title }

  /// What a page may do: nothing in it runs, and it loads only files of its site.
  private static let policy = """
    default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; \
    base-uri 'none'; form-action 'none'
    """

  var html: String {
    let styles = """
      <link rel="icon" href="\(root)site-files/icon.svg">
      <link rel="stylesheet" href="\(root)site-files/site.css">
      <script defer src="\(root)site-files/site.js"></script>
      """
    let parents = ([title] + album.names).dropLast().enumerated().map { depth, name in
      "<a href=\"\(Self.up(album.names.count - depth))index.html\"><bdi>\(HTMLPage.escaped(name))</bdi></a> / "
    }
    return HTMLPage.head(title: name, policy: Self.policy, styles: styles) + """
      <header>
      <nav aria-label="Albums above">\(parents.joined())</nav>
      \(HTMLPage.heading(name))<p>\(Self.counted(album))</p>
      </header>
      <div role="main">
      \(section("Albums", albums.map(figure)))\(months)</div>
      <nav aria-label="Pages">\(link(number - 1, "prev", "Previous"))\(count == 1 ? "" : " \(number) of \(count) ")\
      \(link(number + 1, "next", "Next"))</nav>

      """ + HTMLPage.end
  }

  private func link(_ number: Int, _ relation: String, _ text: String) -> String {
    (1...count).contains(number) ? "<a rel=\"\(relation)\" href=\"\(SiteNames.page(number))\">\(text)</a>" : ""
  }

  /// The images with a heading for each month, as the server's page has them.
  private var months: String {
    var (text, rest) = ("", pictures[...])
    while let month = rest.first?.date.monthTitle {
      let part = rest.prefix { $0.date.monthTitle == month }
      text += section(month, part.map(figure))
      rest = rest.dropFirst(part.count)
    }
    return text
  }

  private func section(_ title: String, _ figures: [String]) -> String {
    figures.isEmpty ? "" : "<h2>\(title)</h2>\n<div class=\"photos\">\n\(figures.joined(separator: "\n"))\n</div>\n"
  }

  private func figure(_ album: SiteAlbum, _ cover: SitePicture?) -> String {
    let name = album.names.last ?? ""
    let folder = RawPath(bytes: SiteNames.safe(album.path).dropFirst(SiteNames.safe(self.album.path).count))
    let image = HTMLPage.image(root + (cover?.outputs[0].path.percentEncoded ?? ""), title: name)
    let link = "<a href=\"\(folder.percentEncoded)index.html\""
    return HTMLPage.figure(
      box: "\(link) tabindex=\"-1\" aria-hidden=\"true\">\(image)</a>",
      caption: ["\(link)>\(HTMLPage.title(name))</a>", HTMLPage.note(Self.counted(album))])
  }

  private func figure(_ picture: SitePicture) -> String {
    let (name, taken, view) = (HTMLPage.escaped(picture.name), picture.date.text, picture.outputs[1])
    let day = taken.prefix(16).replacing("T", with: " ")
    var caption: [String] = []
    var address = """
      href="\(RawPath(bytes: view.path.name).percentEncoded)" data-size="\(view.size ?? PixelSize(1, 1))" \
      data-taken="\(taken)" data-source="\(picture.date.source)"
      """
    // Unknown of what an earlier version has made.
    if let size = picture.size { address += " data-pixels=\"\(size)\"" }
    if picture.outputs.count > 2 {
      let original = "href=\"\(root)\(picture.outputs[2].path.percentEncoded)\""
      caption.append("<small><a \(original) aria-label=\"Original of \(name)\">Original</a></small>")
    }
    let box = "<a \(address) title=\"\(name), \(day)\">\(HTMLPage.image(picture.address, title: picture.name))</a>"
    return HTMLPage.figure(id: picture.address, box: box, caption: caption)
  }

  private static func up(_ count: Int) -> String { String(repeating: "../", count: count) }
  private static func counted(_ album: SiteAlbum) -> String { "\(album.count) picture\(album.count == 1 ? "" : "s")" }
}
