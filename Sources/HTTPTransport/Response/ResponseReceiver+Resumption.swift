import HTTPSemantics
import ThumbnailCore

/// Resuming bodies: continuing the partial body of an earlier attempt, and keeping one for the next.
extension ResponseReceiver {
  /// Continues the body of an earlier attempt, if this response is its rest.
  mutating func resume(_ earlier: PartialBody, _ mayKeepConnection: () -> Bool) -> Bool {
    self.earlier = nil
    stored = earlier.stored
    guard earlier.isContinued(by: head) else { return end(.failed(.wrongRange)) }
    guard earlier.total <= transfer.request.byteLimit else {
      return end(.failed(.tooLarge(limit: transfer.request.byteLimit, announced: earlier.total)))
    }
    (expected, tag) = (earlier.total, earlier.etag)
    body = BodyBuffer(
      continuing: earlier.file, at: earlier.count, spillsTo: transfer.spillLocations,
      logger: transfer.configuration.logger)
    body.prepare(for: earlier.total)
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
    tag = PartialBody.etag(of: head)
    guard let handoff = transfer.partial, let store = handoff.store, let expected, tag != nil,
      store.accepts(total: expected), !ResponseMetadata(head.headers).control.forbidsStoring
    else { return }
    let names = store.names(of: handoff.name)
    body.spill {
      store.openFile(names.name)?.file
    } abandon: { file in
      handoff.enqueue { OpenPartial(names: names, file: file).remove() }
    }
    needsNamedFile = true
  }

  /// Labels a body that has just got a named file, and unlinks the file of one that has moved on from a full disk.
  mutating func updateNamedFile() {
    if let stored, body.givenFile !== stored.file {
      remove(stored)
      self.stored = nil
    }
    guard needsNamedFile, let file = body.givenFile, let handoff = transfer.partial, let store = handoff.store, let tag,
      let expected
    else { return }
    let opened = OpenPartial(names: store.names(of: handoff.name), file: file)
    (stored, needsNamedFile) = (opened, false)
    handoff.enqueue { [address = transfer.url.digest] in
      store.label(opened, address: address, etag: tag, total: expected)
    }
  }

  /// Deletes the body of an earlier attempt that this response replaces.
  ///
  /// The names are unlinked at once: the new body gets files of the same names as soon as it outgrows memory. The blocks
  /// of a large file are freed on the store's thread.
  mutating func dropEarlierBody() {
    earlier?.stored?.remove()
    if let file = earlier?.stored?.file { transfer.partial?.enqueue { withExtendedLifetime(file) {} } }
    earlier = nil
  }

  /// Unlinks a stored body, on the store's thread.
  func remove(_ stored: OpenPartial?) {
    if let stored { transfer.partial?.enqueue { stored.remove() } }
  }

  /// Leaves the body so far to the next attempt, after a failure. What cannot be resumed is deleted.
  func keepPartialBody() {
    if returnEarlierBody() { return }
    if stop == nil, isSuccess, let expected, let tag, let file = body.spilled,
      (1..<expected).contains(body.count), let handoff = transfer.partial
    {
      handoff.leave(
        PartialBody(
          file: file, count: body.count, total: expected, etag: tag, address: transfer.url.digest, stored: stored,
          isObserved: true))
    } else {
      remove(stored)
    }
  }

  /// Deletes what was kept for another attempt, after a successful transfer.
  func dropPartialBody() {
    returnEarlierBody()
    remove(stored)
  }

  /// Leaves the body of an earlier attempt to the next one, when this one got no response about it.
  @discardableResult
  private func returnEarlierBody() -> Bool {
    guard let earlier else { return false }
    transfer.partial?.leave(earlier)
    return true
  }
}
