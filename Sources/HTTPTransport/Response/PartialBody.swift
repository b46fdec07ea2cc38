import HTTPSemantics
import ThumbnailCore

/// The beginning of a body whose transfer broke off, in a file, with the data to resume it.
///
/// Only bodies that had outgrown memory are kept; restarting the others costs less than keeping them.
struct PartialBody: Sendable {
  /// Holds the body from its first byte.
  let file: FileDescriptor
  /// The number of bytes in the file.
  let count: Int
  /// The version of the whole body. Only this version can be resumed.
  let version: BodyVersion
  /// A digest of its URL, because it is written to disk and URLs may hold secrets.
  let address: SourceKey
  /// Its files on disk, if it is to outlive the process.
  let stored: StoredPartial?
  /// Whether the download's observer has seen the bytes.
  var isObserved: Bool

  /// The header fields that request the rest. If the image has changed, the server sends the new one instead.
  var requestHeaders: [HTTPHeader] {
    [HTTPHeader("Range", "bytes=\(count)-"), HTTPHeader("If-Range", version.etag)]
  }

  private var rest: RequestedPart { RequestedPart(count..<version.length, of: version) }

  /// Whether a response is the requested rest: exactly that range of a body of that version.
  func isContinued(by head: ResponseHead) -> Bool { DeliveredPart(head, of: rest) != nil }

  /// The error for a status that may depend on the range. Other server errors may pass, and then the rest is sent.
  func refusal(_ head: ResponseHead) -> DownloadError? {
    let dependsOnRange = (400..<500).contains(head.status) && head.status != 408 || [501, 503].contains(head.status)
    return dependsOnRange ? rest.refusal(head) : nil
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

/// Resuming bodies: continuing the partial body of an earlier attempt, and keeping one for the next.
extension ResponseReceiver {
  /// Continues the body of an earlier attempt, if this response is its rest.
  mutating func resume(_ earlier: PartialBody) -> Bool {
    self.earlier = nil
    body = BodyBuffer(
      continuing: earlier.file, earlier.stored, at: earlier.count, spillsTo: transfer.spillLocations,
      abandon: abandon)
    guard earlier.isContinued(by: head) else { return end(.failed(.wrongRange)) }
    let total = earlier.version.length
    guard total <= transfer.request.byteLimit else {
      return end(.failed(.tooLarge(limit: transfer.request.byteLimit, announced: total)))
    }
    (expected, version) = (total, earlier.version)
    body.prepare(for: total)
    guard !earlier.isObserved, let observer = transfer.observer else { return true }
    switch earlier.show(to: observer) {
    case .more: return true
    case .enough: return endWithEnough()
    case .refuse: return end(.failed(.refusedByObserver))
    case nil: return end(.failed(.wrongRange))
    }
  }

  /// If the body can be resumed and may be stored, makes it spill into a named file, which remains for later runs.
  mutating func spillToNamedFile() {
    version = BodyVersion(of: head, length: expected)
    guard let version, let download = transfer.download, let store = download.store,
      store.accepts(total: version.length), !ResponseMetadata(head.headers).control.forbidsStoring
    else { return }
    body.spill(
      into: { [address = transfer.url.digest] in
        guard let stored = store.openFile(download.name) else { return nil }
        download.onStoreThread { store.label(stored, address: address, version: version) }
        return stored
      }, abandon: abandon)
  }

  /// Deletes the body of an earlier attempt that this response replaces.
  ///
  /// The names are unlinked at once, because the new body uses the same names. The blocks of a large file are freed on
  /// the store's thread.
  mutating func dropEarlierBody() {
    guard let stored = earlier.take()?.stored else { return }
    stored.remove()
    transfer.download?.onStoreThread { withExtendedLifetime(stored) {} }
  }

  /// Unlinks a stored body, on the store's thread.
  private var abandon: @Sendable (StoredPartial) -> Void {
    { [download = transfer.download] stored in download?.onStoreThread { stored.remove() } }
  }

  /// Keeps the body so far for the next attempt, after a failure. A body that cannot be resumed is deleted.
  func settlePartialBody(hasFailed: Bool) {
    // No response has replaced the body of an earlier attempt.
    if let earlier, let download = transfer.download { return download.leave(earlier) }
    if hasFailed, stop == nil, isSuccess, let version, let file = body.spilled,
      (1..<version.length).contains(body.count), let download = transfer.download
    {
      download.leave(
        PartialBody(
          file: file, count: body.count, version: version, address: transfer.url.digest, stored: body.stored,
          isObserved: true))
    } else {
      body.stored.map(abandon)
    }
  }
}
