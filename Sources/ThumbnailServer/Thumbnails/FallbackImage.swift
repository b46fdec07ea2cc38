import Foundation
import HTTPServer
import NIOHTTP1

/// The image that is sent with an error to pages that expect images.
package struct FallbackImage: Sendable {
  private static let longest = 1 << 20
  private static let types = [
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp", "avif": "image/avif",
    "gif": "image/gif", "svg": "image/svg+xml",
  ]

  private let type: String
  private let bytes: Data

  /// Reads a file. Nil if that fails, or if it is empty, longer than 1 MiB, or not named like an image for browsers.
  package init?(path: String) {
    let url = URL(fileURLWithPath: path)
    guard let type = Self.types[url.pathExtension.lowercased()], let data = try? Data(contentsOf: url), !data.isEmpty,
      data.count <= Self.longest
    else { return nil }
    self.type = type
    bytes = data
  }

  /// The image with the status of the error, which must not be stored.
  func response(to problem: ServerResponse.Problem) -> ServerResponse {
    var headers: HTTPHeaders = [
      "content-type": type, "cache-control": "no-store", "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    ]
    headers.add(contentsOf: problem.headers)
    return ServerResponse(problem.status, headers: headers, body: .bytes(bytes))
  }
}
