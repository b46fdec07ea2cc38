import NIOHTTP1
import ThumbnailCore

/// What a client says that it can show.
struct ContentNegotiation: Sendable {
  /// The types in `Accept` with a quality above 0, in lower case.
  private let accepted: Set<Substring>
  /// Device pixels per CSS pixel, from the client hints.
  let density: Double?
  /// The width of the image in device pixels, from the client hints.
  let width: Int?

  /// What holds for a client that sends none of these fields.
  static let none = ContentNegotiation([:])

  init(_ headers: HTTPHeaders) {
    let fields = headers["accept"].joined(separator: ",").lowercased().split(separator: ",")
    accepted = Set(
      fields.compactMap { field in
        let parts = field.split(separator: ";").map { $0.drop { $0 == " " }.prefix { $0 != " " } }
        let isRefused = parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
        return isRefused ? nil : parts.first
      })
    density = (headers.first(name: "sec-ch-dpr") ?? headers.first(name: "dpr")).flatMap { Double($0) }
    width = (headers.first(name: "sec-ch-width") ?? headers.first(name: "width")).flatMap { Int($0) }
  }

  /// The format to send. Only types that are named count: `*/*` and `image/*` are sent by clients that show neither.
  ///
  /// - Parameter allowsAVIF: AVIF takes ten times as long to make as WebP.
  func format(allowsAVIF: Bool) -> OutputFormat {
    if allowsAVIF, accepted.contains("image/avif") { return .avif }
    return accepted.contains("image/webp") ? .webp : .auto
  }
}
