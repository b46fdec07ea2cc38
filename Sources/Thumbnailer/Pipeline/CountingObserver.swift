/// Counts the bytes that arrive, of refused and broken-off bodies too, on their way to another observer.
final class CountingObserver: BodyObserver {
  private let observer: any BodyObserver
  private let statistics: StatisticsCounter
  private let progress: BodyProgress

  init(_ observer: any BodyObserver, statistics: StatisticsCounter, progress: BodyProgress) {
    self.observer = observer
    self.statistics = statistics
    self.progress = progress
  }

  func bodyBegins(expectedLength: Int?) {
    progress.begin(expectedLength: expectedLength)
    observer.bodyBegins(expectedLength: expectedLength)
  }

  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict {
    statistics.add(bytes.count, to: \.downloadedBytes)
    progress.receive(upTo: offset + bytes.count)
    return observer.bodyReceived(bytes, at: offset)
  }
}
