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
  private typealias Problem = ServerResponse.Problem

  static let operations = Set<Substring>([
    "pipeline", "fit", "resize", "enlarge", "extract", "crop", "smartcrop", "rotate", "flip", "flop", "thumbnail",
    "convert", "autorotate", "info",
  ]).union(ImaginaryRequest.refused)

  private static let started = ContinuousClock.now

  let thumbnails: ThumbnailResponder
  let access: SourceAccess
  /// The key that clients have to send as `key` or `API-Key`; nil: none.
  let key: String?

  /// The response to a request for an operation, by GET or POST.
  func response(to request: ServerRequest, operation: Substring) async -> ServerResponse {
    let query = QueryItems(request.query)
    if let key, !Token.areEqual(query["key"] ?? request.headers.first(name: "api-key") ?? "", key) {
      return Self.problem(Problem(.unauthorized, "refused", "Invalid or missing API key"))
    }
    if ImaginaryRequest.refused.contains(operation) {
      return Self.problem(Problem(.notImplemented, "not-implemented", "Not implemented endpoint: \(operation)"))
    }
    do throws(Problem) {
      let upload = request.method == .POST ? try upload(of: request) : nil
      let wanted = try wanted(operation, query, accept: request.headers["accept"].joined(separator: ","))
      let source = if let upload { upload } else { try self.source(of: request, query) }
      return operation == "info" ? try await info(source, request) : try await image(source, wanted, request)
    } catch {
      return Self.problem(error)
    }
  }

  private func wanted(
    _ operation: Substring, _ query: QueryItems, accept: String
  ) throws(Problem) -> ImaginaryRequest {
    do throws(ImaginaryRequest.Problem) {
      return operation == "pipeline"
        ? try ImaginaryRequest(pipeline: query["operations"] ?? "")
        : try ImaginaryRequest(operation: operation, parameters: query.values, accept: accept)
    } catch {
      throw Self.invalid(error.message)
    }
  }

  /// The response for a monitor.
  func health() -> ServerResponse {
    .json([
      "allocatedMemory": Double(ProcessMemory.current) / Double(1 << 20),
      "cpus": ProcessInfo.processInfo.activeProcessorCount,
      "uptime": Int((ContinuousClock.now - Self.started).components.seconds),
    ])
  }

  private func upload(of request: ServerRequest) throws(Problem) -> ServedSource {
    let isSigned = if key != nil { true } else { try access.checkUpload(request) }
    let bytes = MultipartForm.isForm(request) ? MultipartForm.file(of: request) : request.body
    guard let bytes, bytes.readableBytes > 0 else { throw Self.invalid("Empty or unreadable image") }
    let data = Data(buffer: bytes, byteTransferStrategy: .noCopy)
    // Nothing of it is stored, so it has a unique name instead of a digest.
    return ServedSource(.data(data, identity: "upload \(Token.random())"), isSigned: isSigned)
  }

  private func source(of request: ServerRequest, _ query: QueryItems) throws(Problem) -> ServedSource {
    guard let named = query["url"] ?? query["file"] else { throw Self.invalid("Missing required param: url or file") }
    do throws(Problem) {
      // With the key anything may be requested.
      return try access.image(named, request, isSigned: key != nil)
    } catch {
      throw Self.invalid(error.message)
    }
  }

  private func image(
    _ source: ServedSource, _ wanted: ImaginaryRequest, _ request: ServerRequest
  ) async throws(Problem) -> ServerResponse {
    let isUpload = request.method == .POST
    let options = isUpload ? RequestOptions(cacheMode: .noStore) : RequestOptions()
    let thumbnail = try await thumbnails.thumbnail(source, wanted.variant, for: request, options: options)
    var headers: HTTPHeaders = [
      "content-type": thumbnail.mediaType, "image-width": "\(thumbnail.size.width)",
      "image-height": "\(thumbnail.size.height)", "x-content-type-options": "nosniff",
      "cache-control": isUpload ? "no-store" : "public, max-age=86400",
    ]
    if wanted.isNegotiated { headers.add(name: "vary", value: "Accept") }
    return ServerResponse(.ok, headers: headers, body: .bytes(thumbnail.data))
  }

  private func info(_ source: ServedSource, _ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let description = try await thumbnails.thumbnail(
      source, Variant(size: PixelSize(1, 1)), for: request, options: RequestOptions(cacheMode: .noStore)
    ).source
    return .json([
      "height": description.size.height, "space": "srgb", "type": description.format.rawValue,
      "width": description.size.width,
    ])
  }

  private static func invalid(_ message: String) -> Problem { Problem(.badRequest, "invalid-request", message) }

  /// An error as imaginary's clients read it.
  private static func problem(_ problem: Problem) -> ServerResponse {
    .json(
      ["message": problem.message, "status": Int(problem.status.code)], status: problem.status,
      headers: problem.headers)
  }
}

/// Uploads by a form (RFC 7578).
enum MultipartForm {
  private static let longestHead = 8 << 10
  private static let longestBoundary = 70

  static func isForm(_ request: ServerRequest) -> Bool {
    request.headers.first(name: "content-type")?.lowercased().hasPrefix("multipart/form-data") == true
  }

  /// The content of the first field that is a file. Nil if the body is no form, or has none.
  static func file(of request: ServerRequest) -> ByteBuffer? {
    guard isForm(request), let boundary = request.headers.first(name: "content-type").flatMap(boundary) else {
      return nil
    }
    let body = request.body.readableBytesView
    let delimiter = Array("--\(boundary)".utf8)
    let lineEnd = Array("\r\n".utf8)
    var place = body.startIndex
    while let start = body[place...].firstRange(of: delimiter) {
      let headStart = start.upperBound
      guard let headEnd = body[headStart...].firstRange(of: lineEnd + lineEnd) else { return nil }
      guard let end = body[headEnd.upperBound...].firstRange(of: lineEnd + delimiter) else { return nil }
      let head = body[headStart..<headEnd.lowerBound]
      guard head.count <= longestHead else { return nil }
      if String(decoding: head, as: UTF8.self).lowercased().contains("filename=") {
        return request.body.getSlice(at: headEnd.upperBound, length: end.lowerBound - headEnd.upperBound)
      }
      place = end.lowerBound + lineEnd.count
    }
    return nil
  }

  private static func boundary(in type: String) -> String? {
    guard let place = type.range(of: "boundary=", options: .caseInsensitive) else { return nil }
    let value = type[place.upperBound...].prefix { $0 != ";" }
    let plain = value.drop { $0 == "\"" || $0 == " " }.prefix { $0 != "\"" && $0 != " " }
    return plain.isEmpty || plain.utf8.count > longestBoundary ? nil : String(plain)
  }
}
