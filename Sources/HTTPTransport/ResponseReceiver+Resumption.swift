import HTTPSemantics
import ThumbnailCore

/// Bodies that broke off: gone on with where an earlier attempt has left one, and left where this one breaks off.
extension ResponseReceiver {
  /// Goes on with the body of an earlier attempt, if this is its rest.
  mutating func goOn(from earlier: PartialBody, _ mayKeepConnection: () -> Bool) -> Bool {
    self.earlier = nil
    stored = earlier.stored
    guard earlier.isContinued(by: head) else { return end(.failed(.wrongRange)) }
    guard earlier.total <= order.byteLimit else {
      return end(.failed(.tooLarge(limit: order.byteLimit, announced: earlier.total)))
    }
    (expected, tag) = (earlier.total, earlier.etag)
    body = BodyBuffer(
      continuing: earlier.file, at: earlier.count, spillDirectories: order.spillDirectories,
      spillMemory: order.spillMemory)
    body.prepare(for: earlier.total)
    guard !earlier.isObserved, let observer = order.observer else { return true }
    switch earlier.show(to: observer) {
    case .more: return true
    case .enough: return endWithEnough(mayKeepConnection)
    case .refuse: return end(.failed(.refusedByObserver))
    case nil: return end(.failed(.wrongRange))
    }
  }

  /// Has a large body get a name on the disk once it outgrows memory, where it can be gone on with after the end of the
  /// process and may be kept.
  mutating func storeByName() {
    tag = PartialBody.etag(of: head)
    guard let slot = order.partial, let store = slot.store, let expected, tag != nil,
      !ResponseMetadata(head.headers).control.forbidsStoring, store.accepts(total: expected)
    else { return }
    body.spill { [name = slot.name] in store.openFile(name)?.file }
    isToBeNamed = true
  }

  /// Labels a body that has just got a name, and takes the name of one away that has moved on from a full disk.
  mutating func keepNameUpToDate() {
    if let stored, body.givenFile !== stored.file {
      remove(stored)
      self.stored = nil
    }
    guard isToBeNamed, let file = body.givenFile, let slot = order.partial, let store = slot.store, let tag,
      let expected
    else { return }
    let opened = OpenPartial(names: store.names(of: slot.name), file: file)
    (stored, isToBeNamed) = (opened, false)
    slot.ask { [address = order.url.digest] in
      store.label(opened, address: address, etag: tag, total: expected)
    }
  }

  /// Takes a name away, on the store's thread.
  func remove(_ stored: OpenPartial?) {
    if let stored { order.partial?.ask { stored.remove() } }
  }

  /// Leaves what has come to the next attempt, after the transfer has failed. What it cannot use is thrown away.
  func keepPartialBody() {
    if putBackEarlierBody() { return }
    if stop == nil, isSuccess, let expected, let tag, let file = body.spilled,
      (1..<expected).contains(body.count), let slot = order.partial
    {
      slot.put(
        PartialBody(
          file: file, count: body.count, total: expected, etag: tag, address: order.url.digest, stored: stored,
          isObserved: true))
    } else {
      remove(stored)
    }
  }

  /// Lets go of what was kept for another attempt, after the transfer has brought its answer.
  func dropPartialBody() {
    putBackEarlierBody()
    remove(stored)
  }

  /// Leaves the body of an earlier attempt to the next one, when this one came to no answer about it.
  @discardableResult
  private func putBackEarlierBody() -> Bool {
    guard let earlier else { return false }
    order.partial?.put(earlier)
    return true
  }
}
