import CGalleryPage
import CaptureDates
import Exports
import Foundation

/// The files that all pages of a site use, made of those of the gallery's page that a server sends.
enum SiteScript {
  static let files: [(name: String, text: String)] = [
    ("site.js", script), ("icon.svg", file("icon.svg")),
    ("site.css", file("viewer.css") + HTMLPage.stylesheet + file("site.css")),
  ]

  /// The modules that show enlarged images, each after those that it imports.
  private static let modules = [
    "placeholder.js", "words.js", "keyboard.js", "slide-show.js", "swipe.js", "zoom.js", "windows.js",
    "slide.js", "viewer-details.js", "viewer.js",
  ]

  /// One script, since files may not load modules. No two of them use a name for different things.
  private static var script: String {
    let parts = file("index.html").split(separator: "<template").flatMap { $0.split(separator: "<dialog ") }
    let dialog = parts.first { $0.hasPrefix("id=\"viewer\"") } ?? ""
    let lines = (modules + ["site.js"]).flatMap { name in
      file(name).replacing(#/^import [^;]*;\n/#.anchorsMatchLineEndings(), with: "")
        .split(separator: "\n", omittingEmptySubsequences: false)
    }
    let text = lines.map { $0.hasPrefix("export ") ? $0.dropFirst(7) : $0 }
    let markup = "const dialogMarkup = `<dialog \(dialog)`;\nconst searchedMonths = \(CaptureDate.searchedMonths);\n"
    return "(() => {\n\(markup)\(text.joined(separator: "\n"))})();\n"
  }

  private static func file(_ name: String) -> String {
    let files = (0..<gallery_page_file_count()).map(gallery_page_file_at)
    guard let file = files.first(where: { String(cString: $0.name) == name }) else { return "" }
    return String(cString: file.text)
  }
}
