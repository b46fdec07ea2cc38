import Foundation
import HTTPServer
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import ThumbnailCore
import Thumbnailer

/// The addresses of imaginary that clients such as Nextcloud use: `POST /pipeline?operations=…`, `/fit`, `/resize` and
/// the like, with the image as the body, as the field `file` of a form, or named by `url` or `file`; `/info`, `/health`.
struct ImaginaryRoutes: Sendable {
  static let operations: Set<Substring> = [
    "pipeline", "fit", "resize", "enlarge", "crop", "smartcrop", "thumbnail", "convert", "autorotate", "info",
  ]

  private static let started = ContinuousClock.now

  let thumbnails: ThumbnailResponder
  let access: SourceAccess
  /// What clients have to send as `key` or `API-Key`; nil: anybody may ask.
  let key: String?

  /// The response to a request for an operation.
  func response(to request: ServerRequest, operation: Substring) async -> ServerResponse {
    let query = QueryItems(request.query)
    if let key, !Token.areEqual(query["key"] ?? request.headers.first(name: "api-key") ?? "", key) {
      return Self.problem(.unauthorized, "Invalid or missing API key")
    }
    guard request.method == .POST || request.method == .GET else {
      return Self.problem(.methodNotAllowed, "Method not allowed")
    }
    if key == nil, request.method == .POST {
      do throws(ServerResponse.Problem) {
        try access.checkUpload(request)
      } catch {
        return Self.problem(error.status, error.message)
      }
    }
    do throws(ImaginaryRequest.Problem) {
      let wanted =
        operation == "pipeline"
        ? try ImaginaryRequest(pipeline: query["operations"] ?? "")
        : try ImaginaryRequest(operation: operation, parameters: query.values)
      let source = try source(of: request, query)
      return operation == "info" ? await info(source) : await image(source, wanted, request)
    } catch {
      return Self.problem(.badRequest, error.message)
    }
  }

  /// What a monitor asks for.
  func health() -> ServerResponse {
    struct Health: Encodable {
      let uptime: Int
      let allocatedMemory: Double
      let cpus: Int
    }
    let uptime = Int((ContinuousClock.now - Self.started).components.seconds)
    return .json(
      Health(
        uptime: uptime, allocatedMemory: Double(ProcessStatus.residentBytes) / Double(1 << 20),
        cpus: ProcessInfo.processInfo.activeProcessorCount))
  }

  private func source(
    of request: ServerRequest, _ query: QueryItems
  ) throws(ImaginaryRequest.Problem) -> ImageSource {
    if request.method == .POST {
      let bytes = MultipartForm.isForm(request) ? MultipartForm.file(of: request) : request.body
      guard let bytes, bytes.readableBytes > 0 else { throw .init(message: "Empty or unreadable image") }
      // Nothing of it is kept, so it needs a name of its own instead of a digest.
      return .data(Data(buffer: bytes, byteTransferStrategy: .noCopy), identity: "upload \(Token.random())")
    }
    guard let named = query["url"] ?? query["file"] else { throw .init(message: "Missing required param: url or file") }
    do throws(ServerResponse.Problem) {
      // With the key anything may be requested.
      return try access.image(named, request, isSigned: key != nil)
    } catch {
      throw .init(message: error.message)
    }
  }

  private func image(
    _ source: ImageSource, _ wanted: ImaginaryRequest, _ request: ServerRequest
  ) async -> ServerResponse {
    do throws(ServerResponse.Problem) {
      let thumbnail = try await make(source, wanted.variant, stores: request.method == .GET)
      return ServerResponse(
        .ok,
        headers: [
          "content-type": thumbnail.mediaType, "image-width": "\(thumbnail.size.width)",
          "image-height": "\(thumbnail.size.height)", "x-content-type-options": "nosniff",
          "cache-control": request.method == .GET ? "public, max-age=86400" : "no-store",
        ], body: .bytes(ByteBuffer(data: thumbnail.data)))
    } catch {
      return Self.problem(error.status, error.message)
    }
  }

  private func info(_ source: ImageSource) async -> ServerResponse {
    struct Info: Encodable {
      let width: Int
      let height: Int
      let type: String
      let space = "srgb"
    }
    do throws(ServerResponse.Problem) {
      let description = try await make(source, Variant(size: PixelSize(1, 1)), stores: false).source
      return .json(
        Info(width: description.size.width, height: description.size.height, type: description.format.rawValue))
    } catch {
      return Self.problem(error.status, error.message)
    }
  }

  private func make(
    _ source: ImageSource, _ variant: Variant, stores: Bool
  ) async throws(ServerResponse.Problem) -> Thumbnail {
    try await thumbnails.thumbnail(
      source, variant, options: stores ? RequestOptions() : RequestOptions(cacheMode: .noStore))
  }

  /// An error as imaginary's clients read it.
  static func problem(_ status: HTTPResponseStatus, _ message: String) -> ServerResponse {
    struct Problem: Encodable {
      let message: String
      let status: Int
    }
    return .json(Problem(message: message, status: Int(status.code)), status: status)
  }
}
