import Foundation
import HTTPSemantics
import Synchronization
import ThumbnailCore

/// The beginning of a body that broke off, in a file, and what is needed to go on with it.
///
/// Only bodies that had outgrown memory are kept: for the others, a new start costs less than it is to remember them.
struct PartialBody: Sendable {
  /// Holds the body from its first byte on.
  let file: FileDescriptor
  /// How many bytes of it are there.
  let count: Int
  /// The length of the whole body.
  let total: Int
  /// The entity tag that the server must still name it by.
  let etag: String
  /// Where it came from, as a digest: URLs may hold secrets, and this goes to the disk.
  let address: SourceKey
  /// Its name on the disk, where it is to outlive the process.
  let stored: OpenPartial?
  /// Whether the observer of the download has seen the bytes.
  var isObserved: Bool

  /// The fields that ask for the rest: all of it, or, if the picture has changed meanwhile, the new one.
  var requestHeaders: [HTTPHeader] {
    [HTTPHeader("Range", "bytes=\(count)-"), HTTPHeader("If-Range", etag)]
  }

  /// Whether an answer is the rest that was asked for: exactly that range of a body of that length, under the same tag.
  ///
  /// Servers have to name it (RFC 9110, 15.3.7). From one that does not, the rest may be that of a changed picture: it
  /// may know ranges, but not `If-Range`.
  func isContinued(by head: ResponseHead) -> Bool {
    head.status == 206 && !head.isEncoded && head.headers.firstValue(of: "ETag") == etag
      && head.headers.firstValue(of: "Content-Range") == "bytes \(count)-\(total - 1)/\(total)"
      && head.contentLength ?? (total - count) == total - count
  }

  /// Shows an observer the bytes that it has not seen. Returns what it says to them; nil when they cannot be read.
  func show(to observer: any BodyObserver) -> BodyVerdict? {
    observer.bodyBegins(expectedLength: total)
    let source = ByteSource.file(file, count: count)
    var offset = 0
    while offset < count {
      guard let piece = try? source.read(at: offset, length: 256 << 10), !piece.isEmpty else { return nil }
      let verdict = piece.withUnsafeBytes { observer.bodyReceived($0, at: offset) }
      if verdict != .more { return verdict }
      offset += piece.count
    }
    return .more
  }

  /// The tag under which the body of an answer can be gone on with: a strong one, from a server that takes ranges and
  /// has told the length. Nil where it cannot.
  static func etag(of head: ResponseHead) -> String? {
    guard let etag = head.headers.firstValue(of: "ETag"), etag.hasPrefix("\""), etag.hasSuffix("\""), etag.count >= 2,
      etag.utf8.count <= 1024, !head.isEncoded
    else { return nil }
    if head.status == 206 { return etag }
    let ranges = head.headers.firstValue(of: "Accept-Ranges")?.lowercased()
    return head.status == 200 && head.contentLength != nil && ranges == "bytes" ? etag : nil
  }
}

/// Carries a partial body from one attempt to the next, across the curl thread.
final class PartialBodySlot: Sendable {
  /// Where a body is kept beyond the process; nil where it is not.
  let store: PartialStore?
  /// What the download is known by there.
  let name: String
  private let body = Mutex<PartialBody?>(nil)
  /// Whether the store has been asked for something since the last wait for it.
  private let isStoreBusy = Atomic(false)

  /// `name` tells the download from all others. Without one nothing is stored.
  init(store: PartialStore?, name: SourceKey?) {
    self.store = name == nil ? nil : store
    self.name = name?.hex ?? ""
  }

  /// Takes up what is stored of the download.
  func load() async {
    guard let store else { return }
    let found = await PartialStore.onThread { [name] in store.open(name) }
    body.withLock { $0 = found }
  }

  /// Has the store see to something, without waiting for it.
  func ask(_ work: @escaping @Sendable () -> Void) {
    isStoreBusy.store(true, ordering: .relaxed)
    PartialStore.onThread(work)
  }

  /// Waits until the store has seen to everything that it was asked for: the next attempt needs the name.
  func settle() async {
    guard isStoreBusy.exchange(false, ordering: .relaxed) else { return }
    await PartialStore.onThread {}
  }

  /// How far the body is: 0 when there is none.
  var count: Int { body.withLock { $0?.count ?? 0 } }

  /// Leaves a body for the next attempt.
  func put(_ partial: PartialBody) { body.withLock { $0 = partial } }

  /// Takes the body out, if it came from that URL. Of another it is of no use.
  func take(from url: CurlURL) -> PartialBody? {
    body.withLock { body in
      guard let address = body?.address, address == url.digest else { return nil }
      defer { body = nil }
      return body
    }
  }
}

extension CurlURL {
  /// The URL in a form that can be stored.
  var digest: SourceKey { SourceKey(identity: text, headers: []) }
}
