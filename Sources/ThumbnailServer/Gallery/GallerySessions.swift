import Foundation
import HTTPTransport
package import PhotoSources
import ThumbnailCore
import Thumbnailer

/// The source of a gallery's images.
package enum GallerySource: Sendable {
  /// A folder.
  case folder(FolderIndex)
  /// A photo service or a list.
  case search(any PhotoProvider)
}

/// One open gallery page: its images and its prefetches.
struct GallerySession: Sendable {
  let id: String
  let list: any ImageList
  let window: ViewportPrefetch
  /// The link by which its page was opened.
  let link: ShareLink?

  func stop() async {
    await window.stop()
    await list.stop()
  }
}

/// The open gallery pages. One ends some time after its page has gone.
actor GallerySessions {
  /// The time that a session waits for a hidden tab.
  private static let longPatience = Duration.seconds(24 * 3600)
  /// The most sessions, those of guests, and those of one link; beyond it the one of them that has been without a page
  /// for the longest time ends.
  private static let most = 256
  private static let (mostOfGuests, mostOfLink) = (128, 32)

  private struct Entry {
    let session: GallerySession
    var listeners = 0
    /// Whether its page has stopped listening until it becomes visible again.
    var isAway = false
    var idleSince = ContinuousClock.now
    var expiry: Task<Void, Never>?
  }

  let source: GallerySource
  private let pipeline: ThumbnailPipeline
  private let headers: HostHeaders
  private let hidden: HiddenPhotos
  /// See `ThumbnailServer.Configuration.sessionPatience`.
  private let patience: Duration
  private var entries: [String: Entry] = [:]

  init(
    _ source: GallerySource, pipeline: ThumbnailPipeline, headers: HostHeaders, hidden: HiddenPhotos, patience: Duration
  ) {
    (self.source, self.pipeline, self.headers, self.hidden, self.patience) = (
      source, pipeline, headers, hidden, patience
    )
  }

  /// Begins a session with a search in an album, or with what a link shows. Nil if there are too many.
  func begin(
    query: String, order: FolderIndex.Order, album: String, link: ShareLink? = nil
  ) async -> GallerySession? {
    if let link {
      guard await makeRoom(Self.mostOfLink, { $0?.id == link.id }), await makeRoom(Self.mostOfGuests, { $0 != nil })
      else { return nil }
    } else {
      guard await makeRoom(Self.most, { _ in true }) else { return nil }
    }
    let list: any ImageList =
      switch source {
      case .folder(let index):
        FolderList(index, order: order, album: album, pipeline: pipeline, hidden: hidden, link: link)
      case .search(let provider):
        SearchList(provider: provider, pipeline: pipeline, headers: headers, hidden: hidden)
      }
    let session = GallerySession(
      id: Token.random(), list: list, window: ViewportPrefetch(list: list, pipeline: pipeline, headers: headers),
      link: link)
    entries[session.id] = Entry(session: session)
    expire(session.id)
    await list.search(query)
    return session
  }

  /// Whether there are fewer than `most` sessions of some links, after the end of an idle one if necessary.
  private func makeRoom(_ most: Int, _ isRival: (ShareLink?) -> Bool) async -> Bool {
    let rivals = entries.values.filter { isRival($0.session.link) }
    guard rivals.count >= most else { return true }
    let idle = rivals.filter { $0.listeners == 0 }.min { $0.idleSince < $1.idleSince }
    guard let idle else { return false }
    await end(idle.session.id)
    return true
  }

  func session(_ id: some StringProtocol) -> GallerySession? { entries[String(id)]?.session }

  /// A page listens to the session's snapshots.
  func listenerCame(to id: String) {
    entries[id]?.listeners += 1
    entries[id]?.isAway = false
    entries[id]?.expiry?.cancel()
  }

  func listenerLeft(_ id: String) {
    entries[id]?.listeners -= 1
    if entries[id]?.listeners == 0 { expire(id) }
  }

  /// The session's page stops listening until it is seen again.
  func leave(_ id: String) {
    entries[id]?.isAway = true
    if entries[id]?.listeners == 0 { expire(id) }
  }

  func endAll() async {
    for id in entries.keys { await end(id) }
  }

  private func expire(_ id: String) {
    let patience = entries[id]?.isAway == true ? Self.longPatience : patience
    entries[id]?.expiry?.cancel()
    entries[id]?.idleSince = .now
    entries[id]?.expiry = Task { [weak self] in
      do { try await Task.sleep(for: patience) } catch { return }
      await self?.end(id)
    }
  }

  /// Ends a session: its page is closed.
  func end(_ id: String) async {
    guard let entry = entries.removeValue(forKey: id) else { return }
    entry.expiry?.cancel()
    await entry.session.stop()
  }
}

/// Secrets that cannot be guessed.
enum Token {
  /// 128 bits of the system's random numbers, in hexadecimal digits.
  static func random() -> String {
    (0..<16).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
  }

  /// Whether two texts are equal, in a time that does not depend on where they differ.
  static func areEqual(_ one: some StringProtocol, _ other: some StringProtocol) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
