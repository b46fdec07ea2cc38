import Foundation
import Thumbnailer

/// A cached image as a line of a list.
struct StoredPictureLine {
  private let picture: StoredPicture

  init(_ picture: StoredPicture) { self.picture = picture }

  /// The heading of the columns.
  static let heading =
    "fetched".padded(to: 20) + "  " + "picture".padded(to: 11) + "  thumbnails  " + "bytes".aligned(to: 10)
    + "  address"

  /// The human-readable line.
  var text: String {
    let bytes = ByteSize(bytes: picture.bytes).description
    return "\(fetchedAt.padded(to: 20))  \("\(picture.description.size)".padded(to: 11))  "
      + "\("\(picture.thumbnails.count)".aligned(to: 10))  \(bytes.aligned(to: 10))  \(PlainText.line(picture.location))"
  }

  /// A line for each thumbnail.
  var thumbnails: [String] {
    picture.thumbnails.map { thumbnail in
      let asked =
        thumbnail.variant.map { "\(TargetSize($0.size)) \($0.fit.rawValue) q\($0.quality)" } ?? "other version"
      let bytes = ByteSize(bytes: thumbnail.bytes).description
      return "  \(asked.padded(to: 24))  \("\(thumbnail.size)".padded(to: 11))  "
        + "\(thumbnail.format.displayName.padded(to: 4))  \(bytes.aligned(to: 10))"
    }
  }

  /// The line of `--json`.
  var json: String {
    var object = JSONObject()
    object.add("location", picture.location)
    object.add("host", picture.host)
    object.add("fetchedAt", fetchedAt)
    object.add("width", picture.description.size.width)
    object.add("height", picture.description.size.height)
    object.add("format", picture.description.format.rawValue)
    object.add("bytes", picture.description.byteCount)
    object.add("thumbnails", picture.thumbnails.map(Self.member))
    return object.line
  }

  private static func member(_ thumbnail: StoredThumbnail) -> JSONObject {
    var object = JSONObject()
    if let variant = thumbnail.variant {
      object.add("box", "\(TargetSize(variant.size))")
      object.add("fit", variant.fit.rawValue)
      object.add("gravity", variant.gravity.rawValue)
      object.add("quality", variant.quality)
    }
    object.add("width", thumbnail.size.width)
    object.add("height", thumbnail.size.height)
    object.add("format", thumbnail.format.rawValue)
    object.add("bytes", thumbnail.bytes)
    return object
  }

  /// The time in UTC, such as `2026-03-01T12:00:00Z`; left out if it is out of the calendar's range.
  private var fetchedAt: String {
    let seconds = picture.fetchedAt.timeIntervalSince1970
    guard seconds.isFinite, abs(seconds) < 1e11 else { return "-" }
    return picture.fetchedAt.ISO8601Format()
  }
}
