import ArgumentParser
import Foundation
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// `thumbs cache list`.
struct CacheListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the pictures in the disk cache, or the thumbnails of one.",
    usage: "thumbs cache list [<URL|QUERY> ...] [<options>]",
    discussion: """
      Examples:
        thumbs cache list
        thumbs cache list lake
        thumbs cache list https://example.org/a.jpg --json

      A URL or the path of a file lists that picture with its thumbnails; words
      list the pictures whose addresses contain them all. Addresses are kept
      without user, password and query.

      --json prints an object a line: location, host, fetchedAt, width, height,
      format, bytes, and thumbnails with what was asked for (box, fit, gravity,
      quality) and what they are (width, height, format, bytes).
      """)

  @OptionGroup var pictures: CacheSelectionArgument
  @OptionGroup var cache: CacheOptions
  @OptionGroup var form: JSONOption

  func run() async throws {
    let console = Console.standard
    let selection = try pictures.selection()
    var stored = try cache.open()?.pictures(selection)
    var count = 0
    while let picture = try stored?.next() {
      if !form.json, count == 0 { try console.printSoon(StoredPicture.heading) }
      try console.printSoon(form.json ? picture.json.line : picture.text)
      if !form.json, case .picture = selection {
        for thumbnail in picture.thumbnailLines { try console.printSoon(thumbnail) }
      }
      count += 1
    }
    if case .all = selection { return }
    if count == 0 { console.complain(CacheSelectionArgument.nothingStored) }
  }
}

/// A cached image as a line of a list.
extension StoredPicture {
  /// The heading of the columns.
  fileprivate static let heading =
    "fetched".padded(to: 20) + "  " + "picture".padded(to: 11) + "  thumbnails  " + "bytes".aligned(to: 10)
    + "  address"

  /// The human-readable line.
  fileprivate var text: String {
    let total = ByteSize(bytes: bytes).description.aligned(to: 10)
    return "\(fetchedTime.padded(to: 20))  \("\(description.size)".padded(to: 11))  "
      + "\("\(thumbnails.count)".aligned(to: 10))  \(total)  \(PlainText.line(location))"
  }

  /// A line for each thumbnail.
  fileprivate var thumbnailLines: [String] {
    thumbnails.map { thumbnail in
      let asked =
        thumbnail.variant.map { "\(TargetSize($0.size)) \($0.fit.rawValue) q\($0.quality)" } ?? "other version"
      let bytes = ByteSize(bytes: thumbnail.bytes).description
      return "  \(asked.padded(to: 24))  \("\(thumbnail.size)".padded(to: 11))  "
        + "\(thumbnail.format.displayName.padded(to: 4))  \(bytes.aligned(to: 10))"
    }
  }

  /// The line of `--json`.
  fileprivate var json: JSONObject {
    [
      "location": location, "host": host, "fetchedAt": fetchedTime, "width": description.size.width,
      "height": description.size.height, "format": description.format.rawValue, "bytes": description.byteCount,
      "thumbnails": thumbnails.map(Self.json),
    ]
  }

  private static func json(_ thumbnail: StoredThumbnail) -> JSONObject {
    let variant = thumbnail.variant
    return [
      "box": variant.map { "\(TargetSize($0.size))" }, "fit": variant?.fit.rawValue,
      "gravity": variant?.gravity.rawValue, "quality": variant?.quality, "width": thumbnail.size.width,
      "height": thumbnail.size.height, "format": thumbnail.format.rawValue, "bytes": thumbnail.bytes,
    ]
  }

  /// The time in UTC, such as `2026-03-01T12:00:00Z`; left out if it is out of the calendar's range.
  private var fetchedTime: String {
    let seconds = fetchedAt.timeIntervalSince1970
    guard seconds.isFinite, abs(seconds) < 1e11 else { return "-" }
    return fetchedAt.ISO8601Format()
  }
}
