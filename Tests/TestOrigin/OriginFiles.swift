import Foundation

/// Serves the files of a folder.
struct OriginFiles: Sendable {
  let root: URL

  func response(to request: OriginRequest) -> OriginResponse {
    let parts = request.path.split(separator: "/")
    guard !parts.contains(".."), !parts.isEmpty,
      let data = try? Data(contentsOf: root.appending(path: parts.joined(separator: "/")))
    else { return .status(404, "no such file") }
    return .ok(data, type: Self.contentType(of: String(parts[parts.count - 1])))
  }

  static func contentType(of name: String) -> String {
    switch name.split(separator: ".").last?.lowercased() {
    case "jpg", "jpeg": "image/jpeg"
    case "png": "image/png"
    case "webp": "image/webp"
    case "gif": "image/gif"
    case "tif", "tiff": "image/tiff"
    case "avif": "image/avif"
    case "heic", "heif": "image/heic"
    case "svg": "image/svg+xml"
    case "json": "application/json"
    case "html": "text/html; charset=utf-8"
    case "txt": "text/plain; charset=utf-8"
    default: "application/octet-stream"
    }
  }
}
