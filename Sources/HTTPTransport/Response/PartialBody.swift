import HTTPSemantics
import ThumbnailCore

/// The first part of a body whose transfer broke off, in a file, and what is needed to resume it.
///
/// Only bodies that had outgrown memory are kept; restarting the others costs less than keeping them.
struct PartialBody: Sendable {
  /// Holds the body from its first byte.
  let file: FileDescriptor
  /// How many bytes of it are present.
  let count: Int
  /// The version of the whole body, which the server must still send.
  let version: BodyVersion
  /// A digest of its URL: URLs may hold secrets, and this is written to disk.
  let address: SourceKey
  /// Its files on disk, if it is to outlive the process.
  let stored: StoredPartial?
  /// Whether the observer of the download has seen the bytes.
  var isObserved: Bool

  /// Requests the rest; if the image has changed meanwhile, the server sends the new one instead.
  var requestHeaders: [HTTPHeader] {
    [HTTPHeader("Range", "bytes=\(count)-"), HTTPHeader("If-Range", version.etag)]
  }

  /// Whether a response is the requested rest: exactly that range of a body of that version.
  func isContinued(by head: ResponseHead) -> Bool {
    DeliveredPart(head, of: RequestedPart(count..<version.length, of: version)) != nil
  }

  /// Passes the bytes to an observer that has not seen them. Returns its verdict; nil when they cannot be read.
  func show(to observer: any BodyObserver) -> BodyVerdict? {
    observer.bodyBegins(expectedLength: version.length)
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
}

extension CurlURL {
  /// A digest of the URL that can be stored.
  var digest: SourceKey { SourceKey(identity: text, headers: []) }
}
