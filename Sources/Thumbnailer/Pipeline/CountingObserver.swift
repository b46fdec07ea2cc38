/// Counts the bytes that arrive, of refused and broken-off bodies too, on their way to another observer.
final class CountingObserver: BodyObserver {
  private let observer: any BodyObserver
  private let statistics: StatisticsCounter

  init(_ observer: any BodyObserver, statistics: StatisticsCounter) {
    self.observer = observer
    self.statistics = statistics
  }

  func bodyBegins(expectedLength: Int?) {
    observer.bodyBegins(expectedLength: expectedLength)
  }

  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict {
    statistics.add(bytes.count, to: \.downloadedBytes)
    return observer.bodyReceived(bytes, at: offset)
  }
}
