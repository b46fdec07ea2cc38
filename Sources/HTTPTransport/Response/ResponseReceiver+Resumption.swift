import HTTPSemantics
import ThumbnailCore

/// Resuming bodies: continuing the partial body of an earlier attempt, and keeping one for the next.
extension ResponseReceiver {
  /// Continues the body of an earlier attempt, if this response is its rest.
  mutating func resume(_ earlier: PartialBody, _ mayKeepConnection: () -> Bool) -> Bool {
    self.earlier = nil
    body = BodyBuffer(
      continuing: earlier.file, earlier.stored, at: earlier.count, spillsTo: transfer.spillLocations,
      logger: transfer.configuration.logger, abandon: abandon)
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
    case .enough: return endWithEnough(mayKeepConnection)
    case .refuse: return end(.failed(.refusedByObserver))
    case nil: return end(.failed(.wrongRange))
    }
  }

  /// If the body can be resumed and may be stored, makes it spill into a named file once it outgrows memory, so that it
  /// outlives the process.
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
  /// The names are unlinked at once: the new body gets files of the same names as soon as it outgrows memory. The blocks
  /// of a large file are freed on the store's thread.
  mutating func dropEarlierBody() {
    guard let stored = earlier.take()?.stored else { return }
    stored.remove()
    transfer.download?.onStoreThread { withExtendedLifetime(stored) {} }
  }

  /// Unlinks a stored body, on the store's thread.
  private var abandon: @Sendable (StoredPartial) -> Void {
    { [download = transfer.download] stored in download?.onStoreThread { stored.remove() } }
  }

  /// Leaves the body so far to the next attempt, after a failure. What cannot be resumed is deleted.
  func keepPartialBody() {
    if returnEarlierBody() { return }
    if stop == nil, isSuccess, let version, let file = body.spilled, (1..<version.length).contains(body.count),
      let download = transfer.download
    {
      download.leave(
        PartialBody(
          file: file, count: body.count, version: version, address: transfer.url.digest, stored: body.stored,
          isObserved: true))
    } else {
      body.stored.map(abandon)
    }
  }

  /// Deletes what was kept for another attempt, after a successful transfer.
  func dropPartialBody() {
    returnEarlierBody()
    body.stored.map(abandon)
  }

  /// Leaves the body of an earlier attempt to the next one, when this one got no response about it.
  @discardableResult
  private func returnEarlierBody() -> Bool {
    guard let earlier else { return false }
    transfer.download?.leave(earlier)
    return true
  }
}
