/// Bodies that broke off: gone on with where an earlier attempt has left one, and left where this one breaks off.
extension TransferReception {
  /// Goes on with the body of an earlier attempt, if this is its rest.
  mutating func goOn(from earlier: PartialBody, _ mayKeepConnection: () -> Bool) -> Bool {
    self.earlier = nil
    stored = earlier.stored
    guard earlier.isContinued(by: head) else { return end(.failed(.wrongRange)) }
    guard earlier.total <= order.byteLimit else {
      return end(.failed(.tooLarge(limit: order.byteLimit, announced: earlier.total)))
    }
    (expected, tag) = (earlier.total, earlier.etag)
    body = BodyStore(continuing: earlier.file, at: earlier.count)
    guard !earlier.isObserved, let observer = order.observer else { return true }
    switch earlier.show(to: observer) {
    case .more: return true
    case .enough: return endWithEnough(mayKeepConnection)
    case .refuse: return end(.failed(.refusedByObserver))
    case nil: return end(.failed(.wrongRange))
    }
  }

  /// Gives a large body a name on the disk, where it can be gone on with after the end of the process and may be kept.
  mutating func storeByName() {
    tag = PartialBody.etag(of: head)
    guard let slot = order.partial, let expected, let tag, !ResponseMetadata(head.headers).control.forbidsStoring,
      let named = slot.store?.create(slot.name, address: order.url.digest, etag: tag, total: expected)
    else { return }
    body.spill(into: named.file)
    stored = named.stored
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
      stored?.remove()
    }
  }

  /// Lets go of what was kept for another attempt, after the transfer has brought its answer.
  func dropPartialBody() {
    putBackEarlierBody()
    stored?.remove()
  }

  /// Leaves the body of an earlier attempt to the next one, when this one came to no answer about it.
  @discardableResult
  private func putBackEarlierBody() -> Bool {
    guard let earlier else { return false }
    order.partial?.put(earlier)
    return true
  }
}
