import Foundation
import HTTPServer
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// The gallery's part of the server: `/api/…`. The page's own modules describe the messages (docs/gallery.md).
struct GalleryRoutes: Sendable {
  private typealias Problem = ServerResponse.Problem

  /// The most images of a list that one response describes.
  private static let mostItems = 500
  /// More images than a list has.
  private static let longestList = 1 << 32
  /// The most images whose sizes are looked up in the cache, which takes microseconds for each.
  private static let mostLookedUp = 20_000
  /// The interval of keep-alive messages in an event stream, without which a page takes its connection for dead.
  private static let keepAliveInterval = Duration.seconds(5)
  /// The distance ahead of the view, in its heights, at which more images of a search are requested.
  private static let screensAhead = 2

  let sessions: GallerySessions
  let registry: ImageRegistry
  let pipeline: ThumbnailPipeline
  let token: String
  let sharing: Sharing?
  /// Nil if the images are no files.
  let zips: ZipDownloads?

  /// The changes that the page of a link may make: to its own view.
  private static let guestChanges: Set<Substring> = ["order", "positions", "retry", "viewport", "away", "end"]

  /// The response to a request below `/api`, from the page of a link if there is one; the path without that.
  func response(to request: ServerRequest, path: [Substring], _ link: ShareLink?) async -> ServerResponse {
    do throws(Problem) {
      switch (request.method, path.count) {
      case (.GET, 1) where path[0] == "gallery":
        return .json(JSONObject(sessions.source, token: token, link: link, shares: sharing != nil))
      case (.POST, 1) where path[0] == "sessions": return try await begin(request, link)
      case (.GET, 3) where path[0] == "sessions":
        return try await read(path[2], of: session(path[1], link), request)
      case (.POST, 3) where path[0] == "sessions" && (link == nil || Self.guestChanges.contains(path[2])):
        return try await change(path[2], of: session(path[1], link), request)
      case (.GET, 2) where path[0] == "zip" && link == nil, (.HEAD, 2) where path[0] == "zip" && link == nil:
        guard let zips else { throw .notFound }
        return zips.response(to: request, token: path[1], login: sharing?.login.session(of: request))
      case (.POST, 1) where path[0] == "link" && link == nil: return try await makeLink(Self.decode(request))
      case (.GET, 1) where path[0] == "links" && link == nil: return try links()
      case (.GET, 1) where path[0] == "hidden" && link == nil:
        throw Problem(.gone, "removed", "the list of hidden pictures is in the cache's folder hidden")
      case (.POST, 2) where path == ["links", "end"] && link == nil:
        guard let sharing else { throw .notFound }
        try await sharing.links.end((try Self.decode(request) as ItemIDMessage).id)
        return .noContent
      default: throw .notFound
      }
    } catch {
      // The messages of a folder name it.
      guard error.status == .internalServerError else { return .problem(error) }
      return .problem(Problem(error.status, error.code, "the pictures cannot be shown at the moment"))
    }
  }

  private func session(_ id: Substring, _ link: ShareLink?) async throws(Problem) -> GallerySession {
    guard let session = await sessions.session(id), session.link?.id == link?.id else {
      throw Problem(.notFound, "no-session", "this page was away for too long; load it again")
    }
    return session
  }

  // MARK: Reading

  private func read(
    _ what: Substring, of session: GallerySession, _ request: ServerRequest
  ) async throws(Problem) -> ServerResponse {
    switch what {
    case "events": return events(of: session)
    case "items": return try await items(of: session, QueryItems(request.query))
    case "albums" where session.link == nil: return try await albums(of: session, QueryItems(request.query))
    case "aspects": return try await aspects(of: session, QueryItems(request.query))
    default: throw .notFound
    }
  }

  private func events(of session: GallerySession) -> ServerResponse {
    // If the page is slow, only the newest snapshot matters.
    let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(4))
    let listening = Task { [sessions] in
      await sessions.listenerCame(to: session.id)
      let encoder = JSONEncoder()
      for await snapshot in session.list.snapshots {
        guard let data = try? encoder.encode(snapshot) else { continue }
        var event = ByteBuffer(string: "data: ")
        event.writeData(data)
        event.writeString("\n\n")
        continuation.yield(event)
      }
      continuation.finish()
      await sessions.listenerLeft(session.id)
    }
    let ticking = Task { [sharing] in
      while (try? await Task.sleep(for: Self.keepAliveInterval)) != nil {
        if let link = session.link, sharing?.links.hasEnded(link) != false { return continuation.finish() }
        continuation.yield(ByteBuffer(string: "event: alive\ndata: 1\n\n"))
      }
    }
    continuation.onTermination = { _ in
      listening.cancel()
      ticking.cancel()
    }
    return ServerResponse(
      .ok, headers: ["content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no"],
      body: .stream(stream))
  }

  /// The version of a list, and a position in it.
  private static func position(_ query: QueryItems) throws(Problem) -> (version: Int, from: Int) {
    guard let version = query.integer("version"), let from = query.integer("from"), version >= 0,
      (0...longestList).contains(from)
    else { throw Problem(.badRequest, "invalid-request", "version and from must be numbers") }
    return (version, from)
  }

  private func photos(
    of session: GallerySession, version: Int, from: Int, count: Int
  ) async throws(Problem) -> [ListedPhoto] {
    do throws(ProviderError) {
      guard let photos = try await session.list.photos(in: from..<(from + count), version: version) else {
        throw ProviderError.cancelled
      }
      return photos
    } catch {
      throw Self.problem(error)
    }
  }

  private static func problem(_ error: ProviderError) -> Problem {
    if error == .cancelled { return Problem(.conflict, "outdated", "there is a newer version of the list") }
    return Problem(.internalServerError, error.code, error.message)
  }

  /// The positions of images, for a page whose list has changed; -1 for each that is gone.
  private func find(_ message: PositionsMessage, in session: GallerySession) async throws(Problem) -> ServerResponse {
    let ids = session.link == nil ? message.ids : message.ids.map { registry.photo($0)?.photo.id ?? "" }
    do throws(ProviderError) {
      guard let found = try await session.list.positions(of: ids, version: message.version) else { throw .cancelled }
      return .json(["positions": ids.map { found[$0] ?? -1 }])
    } catch {
      throw Self.problem(error)
    }
  }

  private func items(of session: GallerySession, _ query: QueryItems) async throws(Problem) -> ServerResponse {
    let (version, from) = try Self.position(query)
    let count = min(max(0, query.integer("count") ?? Self.mostItems), Self.mostItems)
    let photos = try await photos(of: session, version: version, from: from, count: count)
    let keys = photos.map { registry.admit($0) }
    let stored = await pipeline.storedPlaceholders(of: keys)
    let isGuest = session.link != nil
    let items = zip(photos, keys).map { JSONObject($0, key: $1, stored: stored[$1], isGuest: isGuest) }
    return .json(["from": from, "items": items, "version": version])
  }

  /// The folders within the folder that is shown, each with the key of its first image.
  private func albums(of session: GallerySession, _ query: QueryItems) async throws(Problem) -> ServerResponse {
    do throws(ProviderError) {
      let most = max(0, query.integer("count") ?? .max)
      let albums = try await session.list.albums(version: query.integer("version") ?? -1, most: most)
      guard let albums else { throw ProviderError.cancelled }
      return .json([
        "albums": albums.map {
          ["count": $0.count, "key": registry.admit($1).hex, "path": $0.path] as JSONObject
        }
      ])
    } catch {
      throw Self.problem(error)
    }
  }

  /// The aspects of the images, a byte each, for justified rows.
  private func aspects(of session: GallerySession, _ query: QueryItems) async throws(Problem) -> ServerResponse {
    let (version, begin) = try Self.position(query)
    var from = begin
    var bytes = Data()
    // A part at a time: a list of a million photos is not held at once.
    while true {
      let photos = try await photos(of: session, version: version, from: from, count: Self.mostItems)
      if photos.isEmpty { break }
      for size in await sizes(of: photos, at: from) { bytes.append(AspectByte.encode(size)) }
      from += photos.count
    }
    return ServerResponse(
      .ok, headers: ["content-type": "application/octet-stream", "cache-control": "no-store"], body: .bytes(bytes))
  }

  /// The sizes of source images: from the source, else from their stored thumbnails.
  private func sizes(of photos: [ListedPhoto], at position: Int) async -> [PixelSize?] {
    guard position < Self.mostLookedUp, photos.contains(where: { $0.photo.size == nil }) else {
      return photos.map(\.photo.size)
    }
    let keys = photos.map { registry.key(of: $0.photo) }
    let stored = await pipeline.storedPlaceholders(of: keys)
    return zip(photos, keys).map { $0.photo.size ?? stored[$1]?.size }
  }

  // MARK: Changing

  private struct BeginMessage: Decodable {
    var query: String?
    var order: FolderIndex.Order?
    var album: String?
  }

  /// For so many days a link shows a folder, or else photos.
  private struct LinkMessage: Decodable {
    static let days = 1...31

    let folder: String?
    let ids: [String]?
    let days: Int
  }

  private struct ItemIDMessage: Decodable { let id: String }
  private struct ItemIDsMessage: Decodable { let ids: [String] }
  private struct PositionsMessage: Decodable {
    let version: Int
    let ids: [String]
  }

  /// Without ids all that are hidden are meant.
  private struct UndoMessage: Decodable { let ids: [String]? }

  private func begin(_ request: ServerRequest, _ link: ShareLink?) async throws(Problem) -> ServerResponse {
    let message: BeginMessage = try Self.decode(request)
    // A search or an album would find out the names of folders.
    let begun = await sessions.begin(
      query: link == nil ? message.query ?? "" : "", order: message.order ?? .date,
      album: link == nil ? message.album ?? "" : "", link: link)
    guard let session = begun else {
      throw Problem(
        .serviceUnavailable, "too-many-pages", "too many pages are open; close some", headers: ["retry-after": "10"])
    }
    return .json(["id": session.id], status: .created)
  }

  private func change(
    _ what: Substring, of session: GallerySession, _ request: ServerRequest
  ) async throws(Problem) -> ServerResponse {
    let list = session.list
    func need<Value>(_ field: KeyPath<BeginMessage, Value?>) throws(Problem) -> Value {
      guard let value = (try Self.decode(request) as BeginMessage)[keyPath: field] else { throw Self.noSuchMessage }
      return value
    }
    switch what {
    case "search": await list.search(try need(\.query))
    case "order": await list.setOrder(try need(\.order))
    case "album": await list.setAlbum(try need(\.album))
    case "retry": await list.retry()
    case "delete": try await list.hide((try Self.decode(request) as ItemIDsMessage).ids)
    case "undo": return .json(["ids": await list.show((try Self.decode(request) as UndoMessage).ids)])
    case "positions": return try await find(Self.decode(request), in: session)
    case "zip":
      guard let zips else { throw .notFound }
      return try await zips.add(Self.decode(request), of: list, login: sharing?.login.session(of: request))
    case "use": await list.reportUse(of: (try Self.decode(request) as ItemIDMessage).id)
    case "viewport": try await report(Self.decode(request), to: session)
    case "away": await sessions.leave(session.id)
    case "end": await sessions.end(session.id)
    default: throw .notFound
    }
    return .noContent
  }

  private func makeLink(_ message: LinkMessage) async throws(Problem) -> ServerResponse {
    guard let sharing else { throw .notFound }
    let isScoped =
      message.folder.map { !$0.isEmpty && $0.utf8.last != RawPath.slash } ?? (message.ids?.isEmpty == false)
    guard isScoped, LinkMessage.days.contains(message.days) else {
      throw Problem(.badRequest, "invalid-request", "a link has a folder or pictures, and 1 to 31 days")
    }
    let (link, token) = try await sharing.links.add(
      folder: message.folder, photos: message.folder == nil ? message.ids ?? [] : [], days: message.days)
    return .json(["host": sharing.host, "path": "/s/\(token)/", "until": link.until], status: .created)
  }

  /// The links that have not ended, each with its folder, or the number of its photos.
  private func links() throws(Problem) -> ServerResponse {
    guard let sharing else { throw .notFound }
    return .json([
      "links": try sharing.links.all.map { link in
        [
          "count": link.photos.count, "folder": link.folder.map { String($0.dropLast()) }, "id": link.id,
          "made": link.made, "name": link.photos.map { String(decoding: $0, as: UTF8.self) }.min(),
          "until": link.until,
        ] as JSONObject
      }
    ])
  }

  private func report(_ message: ViewportMessage, to session: GallerySession) async throws(Problem) {
    let snapshot = session.list.current
    var message = message
    // Some may have gone since it was sent.
    if message.first >= 0, message.first < snapshot.count { message.last = min(message.last, snapshot.count - 1) }
    guard await session.window.viewportChanged(message, version: snapshot.version, count: snapshot.count) else {
      throw Problem(.badRequest, "invalid-request", "there is no such viewport")
    }
    let shown = message.first..<(message.last + 1)
    await session.list.showed(shown, ahead: Self.screensAhead * shown.count)
  }

  private static var noSuchMessage: Problem {
    Problem(.badRequest, "invalid-request", "this address does not accept such a message")
  }

  private static func decode<Message: Decodable>(_ request: ServerRequest) throws(Problem) -> Message {
    do {
      return try JSONDecoder().decode(Message.self, from: request.body)
    } catch {
      throw noSuchMessage
    }
  }
}

/// Aspect ratios in a byte each.
enum AspectByte {
  private static let stepsPerOctave = 32.0
  private static let square = 128.0

  /// 128 for a square, 32 more for each doubling of width to height, at least 1; 0 if the size is not known.
  static func encode(_ size: PixelSize?) -> UInt8 {
    guard let size, size.width > 0, size.height > 0 else { return 0 }
    let steps = stepsPerOctave * log2(Double(size.width) / Double(size.height))
    return UInt8(min(255, max(1, (steps + square).rounded())))
  }
}
