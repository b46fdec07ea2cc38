import Foundation
import HTTPServer
import NIOHTTP1
import HTTPSemantics
import ThumbnailCore
import Thumbnailer

/// Makes responses of thumbnails: validators, conditional requests, errors.
struct ThumbnailResponder: Sendable {
  let pipeline: ThumbnailPipeline
  let admission: RequestAdmission
  /// The queue for reads of stored thumbnails, so that one client's reads do not delay those of others.
  let lookups: RequestAdmission
  /// The deadline of a thumbnail, with all waiting; nil for none.
  var deadline: Duration?
  /// Whether errors name the image and its host. They may, if the client has chosen the images.
  var namesSources = false

  /// What is wrong with files that fail again, as long as they have not changed.
  private static let lasting: Set = [
    "damaged", "not-a-picture", "video", "too-large", "raw-without-preview", "unsupported-format",
  ]

  /// The response if the thumbnail is in the memory cache.
  ///
  /// - Parameter storing: The value of `Cache-Control`.
  func cached(
    _ source: ServedSource, _ variant: Variant, _ storing: String, for request: ServerRequest,
    extra: HTTPHeaders = [:]
  ) -> ServerResponse? {
    guard let hit = pipeline.cachedThumbnail(for: CacheKey(source: source.image.key, variant: variant)),
      source.admits(hit, variant)
    else { return nil }
    return Self.response(with: hit, storing, for: request, extra: extra)
  }

  /// The response when the thumbnail is ready, or an error.
  func made(
    _ source: ServedSource, _ variant: Variant, _ storing: String, for request: ServerRequest,
    options: RequestOptions = RequestOptions(), extra: HTTPHeaders = [:]
  ) async -> ServerResponse {
    do throws(ServerResponse.Problem) {
      let thumbnail = try await thumbnail(source, variant, for: request, options: options)
      return Self.response(with: thumbnail, storing, for: request, extra: extra)
    } catch {
      var response = ServerResponse.problem(error)
      // Under an address that changes with the file.
      if storing.hasSuffix("immutable"), Self.lasting.contains(error.code) {
        response.headers.replaceOrAdd(name: "cache-control", value: "private, max-age=3600")
      }
      return response
    }
  }

  /// The format of a thumbnail for a client, if its address leaves that open. AVIF takes ten times as long to make as
  /// WebP: it is sent if it is stored, or if no other request waits.
  func format(
    for negotiation: ContentNegotiation, of source: ServedSource, variant: (OutputFormat) -> Variant
  ) async -> OutputFormat {
    let best = negotiation.format(allowsAVIF: true)
    guard best == .avif, admission.current > 0 else { return best }
    let stored = ThumbnailRequest(source.image, variant: variant(.avif))
    return await self.stored(stored) != nil ? .avif : negotiation.format(allowsAVIF: false)
  }

  /// The thumbnail: at once if it is stored, else made when the request's turn comes, within the deadline.
  func thumbnail(
    _ source: ServedSource, _ variant: Variant, for request: ServerRequest, options: RequestOptions = RequestOptions()
  ) async throws(ServerResponse.Problem) -> Thumbnail {
    var wanted = ThumbnailRequest(source.image, variant: variant)
    (wanted.options, wanted.options.strangersPixels) = (options, source.mostPixels)
    wanted.client = ClientNetwork.name(of: request.client)
    let thumbnail = try await withinDeadline(wanted)
    guard source.admits(thumbnail, variant) else { throw problem(.tooManyPixels(ServedSource.strangersPixels)) }
    return thumbnail
  }

  private func problem(_ error: ThumbnailError) -> ServerResponse.Problem {
    ServerResponse.Problem(error, namesSources: namesSources)
  }

  private func withinDeadline(_ request: ThumbnailRequest) async throws(ServerResponse.Problem) -> Thumbnail {
    guard let deadline else { return try await make(request) }
    let result = await withTaskGroup(of: Result<Thumbnail, ServerResponse.Problem>.self) { group in
      group.addTask {
        do throws(ServerResponse.Problem) {
          return .success(try await make(request))
        } catch {
          return .failure(error)
        }
      }
      group.addTask {
        try? await Task.sleep(for: deadline)
        let reason = "the thumbnail was not made within \(deadline.inWords); try again later"
        return .failure(problem(.timedOut(reason: reason)))
      }
      defer { group.cancelAll() }
      return await group.next() ?? .failure(problem(.cancelled))
    }
    return try result.get()
  }

  private func make(_ request: ThumbnailRequest) async throws(ServerResponse.Problem) -> Thumbnail {
    if let stored = await stored(request) { return stored.thumbnail }
    let party = RequestQueue.Party(client: request.client ?? "", origin: HostName(of: request.source.url)?.host)
    return try await made(request, when: admission, party).thumbnail
  }

  private func made(
    _ request: ThumbnailRequest, when admission: RequestAdmission, _ party: RequestQueue.Party
  ) async throws(ServerResponse.Problem) -> ThumbnailResponse {
    try await admission.whenAdmitted(party) { () async throws(ServerResponse.Problem) in
      do throws(ThumbnailError) { return try await pipeline.response(for: request) } catch { throw problem(error) }
    }
  }

  /// The thumbnail if it is stored and fresh.
  private func stored(_ request: ThumbnailRequest) async -> ThumbnailResponse? {
    var request = request
    if request.options.cacheMode == .noStore { return nil }
    request.options.isStoredOnly = true
    let party = RequestQueue.Party(client: request.client ?? "", origin: nil)
    return try? await made(request, when: lookups, party)
  }

  private static func response(
    with thumbnail: Thumbnail, _ storing: String, for request: ServerRequest, extra: HTTPHeaders
  ) -> ServerResponse {
    let tag = thumbnail.tag.value { EntityTag.of(thumbnail.data) }
    var headers: HTTPHeaders = [
      "etag": tag, "cache-control": storing, "x-content-type-options": "nosniff",
    ]
    headers.add(contentsOf: extra)
    if EntityTag.isNamed(tag, in: request) { return ServerResponse(.notModified, headers: headers) }
    headers.add(name: "content-type", value: thumbnail.mediaType)
    // Opened by itself, an image can run nothing and load nothing.
    headers.add(name: "content-security-policy", value: "default-src 'none'; sandbox")
    return ServerResponse(.ok, headers: headers, body: .bytes(thumbnail.data))
  }
}

/// Strong validators, made of the bytes themselves.
enum EntityTag {
  /// A tag that differs for other bytes. It protects against change, not against forgery, so a fast digest is enough.
  static func of(_ data: Data) -> String {
    let digest = data.withUnsafeBytes { Checksum.xxh64($0) }
    return "\"\(String(digest, radix: 36))-\(String(data.count, radix: 36))\""
  }

  /// Whether a client has the version with that tag.
  static func isNamed(_ tag: String, in request: ServerRequest) -> Bool {
    request.headers["if-none-match"].contains { matches($0, tag) }
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
