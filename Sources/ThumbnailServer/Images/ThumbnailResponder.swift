import Foundation
import HTTPServer
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import ThumbnailCore
import Thumbnailer

/// Makes responses of thumbnails: validators, conditional requests, errors.
struct ThumbnailResponder: Sendable {
  let pipeline: ThumbnailPipeline
  let admission: RequestAdmission

  /// The response if the thumbnail is in the memory cache.
  ///
  /// - Parameter storing: The value of `Cache-Control`.
  func cached(
    _ source: ImageSource, _ variant: Variant, _ storing: String, for request: ServerRequest,
    extra: HTTPHeaders = [:]
  ) -> ServerResponse? {
    guard let hit = pipeline.cachedThumbnail(for: CacheKey(source: source.key, variant: variant)) else { return nil }
    return Self.response(with: hit, storing, for: request, extra: extra)
  }

  /// The response once the thumbnail is there, or an error.
  func made(
    _ source: ImageSource, _ variant: Variant, _ storing: String, for request: ServerRequest,
    options: RequestOptions = RequestOptions(), extra: HTTPHeaders = [:]
  ) async -> ServerResponse {
    guard admission.enter() else { return .problem(.overloaded) }
    defer { admission.leave() }
    var wanted = ThumbnailRequest(source, variant: variant)
    wanted.options = options
    do throws(ThumbnailError) {
      return Self.response(with: try await pipeline.thumbnail(for: wanted), storing, for: request, extra: extra)
    } catch {
      return .problem(ServerResponse.Problem(error))
    }
  }

  private static func response(
    with thumbnail: Thumbnail, _ storing: String, for request: ServerRequest, extra: HTTPHeaders
  ) -> ServerResponse {
    let tag = EntityTag.of(thumbnail.data)
    var headers: HTTPHeaders = [
      "etag": tag, "cache-control": storing, "x-content-type-options": "nosniff",
    ]
    headers.add(contentsOf: extra)
    if let condition = request.headers.first(name: "if-none-match"), EntityTag.matches(condition, tag) {
      return ServerResponse(.notModified, headers: headers)
    }
    headers.add(name: "content-type", value: thumbnail.mediaType)
    // Opened by itself, an image can run nothing and load nothing.
    headers.add(name: "content-security-policy", value: "default-src 'none'; sandbox")
    return ServerResponse(.ok, headers: headers, body: .bytes(ByteBuffer(data: thumbnail.data)))
  }
}

/// Strong validators, made of the bytes themselves.
enum EntityTag {
  /// A tag that differs for other bytes: FNV-1a over words of eight bytes, and the length. It protects against change,
  /// not against forgery, so a fast digest is enough.
  static func of(_ data: Data) -> String {
    var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    let prime: UInt64 = 0x0000_0100_0000_01b3
    data.withUnsafeBytes { bytes in
      var offset = 0
      while offset + 8 <= bytes.count {
        digest = (digest ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))) &* prime
        // The product moves differences upwards only.
        digest ^= digest >> 32
        offset += 8
      }
      for byte in bytes[offset...] { digest = (digest ^ UInt64(byte)) &* prime }
    }
    return "\"\(String(digest, radix: 36))-\(String(data.count, radix: 36))\""
  }

  /// Whether a value of `If-None-Match` names the tag.
  static func matches(_ condition: String, _ tag: String) -> Bool {
    condition.split(separator: ",").contains { part in
      var part = part.drop { $0 == " " || $0 == "\t" }
      if part.hasPrefix("W/") { part = part.dropFirst(2) }
      return part.prefix { $0 != " " && $0 != "\t" } == tag || part == "*"
    }
  }
}
