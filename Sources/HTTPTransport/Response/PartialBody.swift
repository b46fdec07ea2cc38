import Foundation
import HTTPSemantics
import Synchronization
import ThumbnailCore

/// The first part of a body whose transfer broke off, in a file, and what is needed to resume it.
///
/// Only bodies that had outgrown memory are kept; restarting the others costs less than keeping them.
struct PartialBody: Sendable {
  /// Holds the body from its first byte.
  let file: FileDescriptor
  /// How many bytes of it are present.
  let count: Int
  /// The length of the whole body.
  let total: Int
  /// The strong `ETag` that the server must still send.
  let etag: String
  /// A digest of its URL: URLs may hold secrets, and this is written to disk.
  let address: SourceKey
  /// Its files on disk, if it is to outlive the process.
  let stored: OpenPartial?
  /// Whether the observer of the download has seen the bytes.
  var isObserved: Bool

  /// Requests the rest; if the image has changed meanwhile, the server sends the new one instead.
  var requestHeaders: [HTTPHeader] {
    [HTTPHeader("Range", "bytes=\(count)-"), HTTPHeader("If-Range", etag)]
  }

  /// Whether a response is the requested rest: exactly that range of a body of that length, with the same `ETag`.
  ///
  /// A 206 must repeat the tag (RFC 9110, 15.3.7). Without it the rest may be that of a changed image, from a server
  /// that supports ranges but not `If-Range`.
  func isContinued(by head: ResponseHead) -> Bool {
    head.status == 206 && !head.isEncoded && head.headers.firstValue(of: "ETag") == etag
      && head.headers.firstValue(of: "Content-Range") == "bytes \(count)-\(total - 1)/\(total)"
      && head.contentLength ?? (total - count) == total - count
  }

  /// Passes the bytes to an observer that has not seen them. Returns its verdict; nil when they cannot be read.
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

  /// The `ETag` of a response whose body can be resumed: a strong one, from a server that supports ranges and announced
  /// the length. Nil if it cannot.
  static func etag(of head: ResponseHead) -> String? {
    guard !head.isEncoded, head.status == 206 || head.contentLength != nil else { return nil }
    return BodyVersion.etag(status: head.status, headers: head.headers)
  }
}

/// Carries a partial body from one attempt to the next, across the curl thread.
final class PartialBodyHandoff: Sendable {
  /// Keeps bodies beyond the process; nil if none are kept.
  let store: PartialStore?
  /// The download's name in the store.
  let name: String
  private let body = Mutex<PartialBody?>(nil)
  /// Whether work was queued at the store since the last wait for it.
  private let isStoreBusy = Atomic(false)

  /// `name` identifies the download. Without one nothing is stored.
  init(store: PartialStore?, name: SourceKey?) {
    self.store = name == nil ? nil : store
    self.name = name?.hex ?? ""
  }

  /// Loads the stored partial body of the download, if any.
  ///
  /// Whether there is one is looked up on disk each time, since other processes write to the folder as well. A body that
  /// this process is about to label may be missed; then it is downloaded from its beginning.
  func load() async {
    guard let store, store.exists(name) else { return }
    let found = await PartialStore.onThread { [name] in store.open(name) }
    body.withLock { $0 = found }
  }

  /// Queues work on the store's thread, without waiting for it.
  func enqueue(_ work: @escaping @Sendable () -> Void) {
    isStoreBusy.store(true, ordering: .relaxed)
    PartialStore.onThread(work)
  }

  /// Waits until all queued work is done, since the next attempt needs the files.
  func settle() async {
    guard isStoreBusy.exchange(false, ordering: .relaxed) else { return }
    await PartialStore.onThread {}
  }

  /// How many bytes are present: 0 without a body.
  var count: Int { body.withLock { $0?.count ?? 0 } }

  /// Leaves a body for the next attempt.
  func leave(_ partial: PartialBody) { body.withLock { $0 = partial } }

  /// Takes the body if it came from that URL; for another URL it is useless.
  func take(from url: CurlURL) -> PartialBody? {
    body.withLock { body in
      guard let address = body?.address, address == url.digest else { return nil }
      defer { body = nil }
      return body
    }
  }
}

extension CurlURL {
  /// A digest of the URL that can be stored.
  var digest: SourceKey { SourceKey(identity: text, headers: []) }
}
