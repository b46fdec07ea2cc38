import Foundation
import HTTPServer
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import ThumbnailCore
import Thumbnailer

/// The address of imaginary that Nextcloud uses for previews: `POST /pipeline?operations=…`, with the image as the body.
struct ImaginaryRoutes: Sendable {
  private typealias Problem = ServerResponse.Problem

  let thumbnails: ThumbnailResponder
  let access: SourceAccess
  /// The key that clients have to send as `key`; nil: none.
  let key: String?

  /// The response to a request for a preview.
  func response(to request: ServerRequest) async -> ServerResponse {
    do throws(Problem) {
      let query = QueryItems(request.query)
      if let key, !Token.areEqual(query["key"] ?? "", key) {
        throw Problem(.unauthorized, "refused", "Invalid or missing API key")
      }
      return try await preview(upload(of: request), variant(query), request)
    } catch {
      // An error as imaginary's clients read it.
      return .json(
        ["message": error.message, "status": Int(error.status.code)], status: error.status, headers: error.headers)
    }
  }

  private func upload(of request: ServerRequest) throws(Problem) -> ServedSource {
    let isSigned = if key != nil { true } else { try access.checkUpload(request) }
    guard request.body.readableBytes > 0 else {
      throw Problem(.badRequest, "invalid-request", "Empty or unreadable image")
    }
    let data = Data(buffer: request.body, byteTransferStrategy: .noCopy)
    // Nothing of it is stored, so it has a unique name instead of a digest.
    return ServedSource(.data(data, identity: "upload \(Token.random())"), isSigned: isSigned)
  }

  private func variant(_ query: QueryItems) throws(Problem) -> Variant {
    do throws(InvalidValue) {
      return try ImaginaryPipeline.variant(query["operations"] ?? "")
    } catch {
      throw Problem(.badRequest, "invalid-request", error.message)
    }
  }

  private func preview(
    _ source: ServedSource, _ variant: Variant, _ request: ServerRequest
  ) async throws(Problem) -> ServerResponse {
    let thumbnail = try await thumbnails.thumbnail(
      source, variant, for: request, options: RequestOptions(cacheMode: .noStore))
    return ServerResponse(
      .ok,
      headers: [
        "content-type": thumbnail.mediaType, "image-width": "\(thumbnail.size.width)",
        "image-height": "\(thumbnail.size.height)", "x-content-type-options": "nosniff", "cache-control": "no-store",
      ], body: .bytes(thumbnail.data))
  }
}
