package import Foundation
import HTTPServer
import Synchronization
import ThumbnailCore

/// Some pictures of a gallery for all who have a link, until its end.
struct ShareLink: Sendable, Codable {
  /// The part of the link that is signed.
  let id: String
  /// The end, in seconds since 1970.
  let until: Int
  /// When it was made, in the same way; nil for links of earlier versions.
  var made: Int?
  /// The path of a folder within the gallery as `RawPath.text`, with a slash at its end; nil for single photos.
  let folder: String?
  /// The photos' ids in UTF-8: strings in Swift are equal if only their Unicode normal forms differ.
  let photos: Set<Data>

  func contains(_ photo: String) -> Bool {
    guard let folder else { return photos.contains(Data(photo.utf8)) }
    let prefix = RawPath(text: folder).bytes
    return !prefix.isEmpty && RawPath(text: photo).bytes.starts(with: prefix)
  }

  func hasEnded(at now: Date = Date()) -> Bool { now.timeIntervalSince1970 >= Double(until) }
}

/// The links to parts of a gallery: `/s/ID.SIGNATURE/`, with an HMAC-SHA256 of the id. What they show is kept in a file,
/// so that an address names neither folders nor photos.
package actor ShareLinks {
  /// The most bytes of the photos' ids in all links.
  static let mostBytes = 4 << 20
  private static let most = 1000
  private static let idLength = 16
  private static let secondsOfDay = 86_400

  private struct Content: Codable, Sendable {
    var key = Token.random() + Token.random()
    var links: [String: ShareLink] = [:]
  }

  private let file: URL?
  /// What was read last, with the state of the file then.
  private let known = Mutex((state: FileState?.none, content: Content()))

  /// The links of a gallery, in a file of mode 0600 beside the cache; without a folder they end with the server.
  package init(in cacheDirectory: URL?, gallery: String) {
    file = cacheDirectory.map { PrivateFile.url(in: $0, folder: "links", gallery: gallery) }
  }

  /// The path of a file that cannot be read: the next link would replace it, and end all others.
  package nonisolated var unreadablePath: String? { (try? content) == nil ? file?.path : nil }

  /// What the file has now: another server of the gallery may have added links, and removing the file ends all.
  private nonisolated var content: Content {
    get throws(ServerResponse.Problem) { try content(isLocked: false) }
  }

  private nonisolated func content(isLocked: Bool) throws(ServerResponse.Problem) -> Content {
    guard let file else { return known.withLock(\.content) }
    do {
      let state = try PrivateFile.state(of: file)
      if let same = known.withLock({ $0.state == state ? $0.content : nil }) { return same }
      let new = try PrivateFile.read(Content.self, from: file, isLocked: isLocked)
      return known.withLock { known in
        known = new.map { (state, $0) } ?? (nil, Content())
        return known.content
      }
    } catch {
      throw .init(
        .serviceUnavailable, "not-stored", "the links beside the cache cannot be read; mend the file's rights")
    }
  }

  /// The link of a part of an address; nil if it is no link, or has ended.
  nonisolated func link(_ token: some StringProtocol, at now: Date = Date()) -> ShareLink? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    guard let content = try? content, parts.count == 2,
      Token.areEqual(parts[1], Self.signature(of: parts[0], content.key)), let link = content.links[parts[0]],
      !link.hasEnded(at: now)
    else { return nil }
    return link
  }

  /// The links that have not ended, the one that ends first at the beginning.
  nonisolated var all: [ShareLink] {
    get throws(ServerResponse.Problem) {
      try content.links.values.filter { !$0.hasEnded() }.sorted { ($0.until, $0.id) < ($1.until, $1.id) }
    }
  }

  nonisolated func hasEnded(_ link: ShareLink) -> Bool { link.hasEnded() || (try? content)?.links[link.id] == nil }

  /// Makes a link to a folder or to photos.
  func add(
    folder: String?, photos: [String], days: Int, at now: Date = Date()
  ) throws(ServerResponse.Problem) -> (link: ShareLink, token: String) {
    let made = Int(now.timeIntervalSince1970)
    let link = ShareLink(
      id: String(Token.random().prefix(Self.idLength)), until: made + days * Self.secondsOfDay, made: made,
      folder: folder.map { "\($0)/" },
      photos: Set(photos.map { Data($0.utf8) }))
    let key = try change { content throws(ServerResponse.Problem) in
      content.links = content.links.filter { !$0.value.hasEnded(at: now) }
      content.links[link.id] = link
      guard content.links.count <= Self.most, content.links.values.reduce(0, { $0 + $1.size }) <= Self.mostBytes else {
        throw .init(.conflict, "too-many-links", "there are too many links; some have to end first")
      }
    }
    return (link, "\(link.id).\(Self.signature(of: link.id, key))")
  }

  /// Ends a link, if there is one with this id.
  func end(_ id: String) throws(ServerResponse.Problem) {
    if try content.links[id] != nil { _ = try change { $0.links[id] = nil } }
  }

  /// Changes the links that the file has now. Returns the key.
  private func change(
    _ change: (inout Content) throws(ServerResponse.Problem) -> Void
  ) throws(ServerResponse.Problem) -> String {
    do {
      func changed() throws(ServerResponse.Problem) -> Content {
        var new = try content(isLocked: true)
        try change(&new)
        return new
      }
      // It is read again when a link is used.
      if let file { return try PrivateFile.change(file, changed).content.key }
      let new = try changed()
      known.withLock { $0.content = new }
      return new.key
    } catch let problem as ServerResponse.Problem {
      throw problem
    } catch {
      throw .init(.insufficientStorage, "not-stored", "the links cannot be stored beside the cache; free some space")
    }
  }

  private static func signature(of id: String, _ key: String) -> String {
    Base64URL.encode(HMAC.sha256(Array("link \(id)".utf8), key: Array(key.utf8)))
  }
}

extension ShareLink {
  fileprivate var size: Int { photos.reduce(folder?.utf8.count ?? 0) { $0 + $1.count } }
}

/// Files of galleries in the cache's folder that nobody else can read. They are changed under a lock.
enum PrivateFile {
  private static let nameLength = 32

  static func url(in cacheDirectory: URL, folder: String, gallery: String) -> URL {
    let digest = SHA256.hash(gallery.utf8).hexadecimal
    return cacheDirectory.appending(path: folder).appending(path: "\(digest.prefix(nameLength)).json")
  }

  /// The longest wait for another process, which may be stopped.
  @TaskLocal static var patience = Duration.seconds(2)

  /// Waits until no other process changes a file of the same folder, and keeps others from it until this is dropped.
  static func lock(_ url: URL) throws -> FileDescriptor {
    let folder = RawPath(fileURL: url.deletingLastPathComponent())
    try NewFile.makeFolders(folder, permissions: 0o700)
    let opened = folder.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened >= 0 else { throw SystemFailure.last }
    let lock = FileDescriptor(owning: opened)
    let end = ContinuousClock.now + patience
    // Where a file system has no locks, a change goes on without one.
    while !lock.lock(), errno == EWOULDBLOCK {
      if ContinuousClock.now > end { throw SystemFailure(code: EWOULDBLOCK) }
      usleep(1000)
    }
    return lock
  }

  /// The state of a file; nil if it is not there. Throws for a link to nothing: its disk may be away.
  static func state(of url: URL) throws(SystemFailure) -> FileState? {
    let path = RawPath(fileURL: url)
    do {
      return try FileState(of: path)
    } catch {
      // It, or the cache, or the folder of its kind in that.
      let places = [url, url.deletingLastPathComponent(), url.deletingLastPathComponent().deletingLastPathComponent()]
      let isAway = places.map { RawPath($0.path) }.contains { $0.destination != nil && $0.resolved == nil }
      guard error.code == ENOENT, !isAway else { throw error }
      return nil
    }
  }

  /// What a file has; nil if it is not there, or was damaged and is set aside. Throws if it cannot be read.
  static func read<Content: Decodable>(_ content: Content.Type, from url: URL, isLocked: Bool) throws -> Content? {
    guard try state(of: url) != nil else { return nil }
    do {
      return try JSONDecoder().decode(content, from: Data(contentsOf: url))
    } catch is DecodingError where isLocked {
      try setAside(url)
      return nil
    } catch is DecodingError {
      // Another server may have put a new one in its place.
      let lock = try lock(url)
      defer { withExtendedLifetime(lock) {} }
      return try read(content, from: url, isLocked: true)
    }
  }

  /// Gives a damaged file another name, under which its owner may mend it. Throws for a link: what it leads to may be
  /// mended soon, as by a program that synchronises folders.
  static func setAside(_ url: URL) throws {
    if RawPath(url.path).destination != nil { throw SystemFailure(code: EBUSY) }
    let aside = try RawPath(url.path).setAside()
    let told = "thumbs: \(url.path) is damaged and not used; it is called \(RawPath(bytes: aside.name)) now\n"
    FileHandle.standardError.write(Data(told.utf8))
  }

  /// Writes as JSON what `changed` makes of the file: others see the old one or the new. Under a lock, which programs that
  /// synchronise folders do not know: what comes meanwhile is not replaced, but changed in turn. Returns what it has then,
  /// with its state.
  static func change<Content: Encodable>(
    _ url: URL, _ changed: () throws -> Content
  ) throws -> (content: Content, state: FileState) {
    let lock = try lock(url)
    defer { withExtendedLifetime(lock) {} }
    let end = ContinuousClock.now + patience
    while true {
      // It may be a link to a folder that is synchronised.
      let path = RawPath(fileURL: url).resolved ?? RawPath(fileURL: url)
      if !NewFile.isBeingWritten(path, AT_FDCWD) {
        let there = try state(of: url)
        let content = try changed()
        var file = try NewFile(path, permissions: 0o600)
        try file.write(JSONEncoder().encode(content))
        try file.sync()
        if try file.commit(over: there) { return (content, try FileState(ofOpen: file.file)) }
      }
      if ContinuousClock.now > end { throw SystemFailure(code: EBUSY) }
      usleep(10_000)
    }
  }
}
