import HTTPTransport
import HTTPSemantics
import Synchronization
import ThumbnailCore

/// Counts the received bytes, those of refused and truncated bodies included, before passing them to another observer,
/// and keeps the head of the last response.
final class CountingObserver: BodyObserver {
  /// The status and header fields of a response.
  struct Head: Sendable {
    let status: Int
    let headers: [HTTPHeader]
  }

  private let observer: any BodyObserver
  private let statistics: StatisticsCounter
  private let progress: BodyProgress
  private let lastHead = Mutex<Head?>(nil)

  init(_ observer: any BodyObserver, statistics: StatisticsCounter, progress: BodyProgress) {
    self.observer = observer
    self.statistics = statistics
    self.progress = progress
  }

  /// The head of the last response; nil if there was none.
  var head: Head? { lastHead.withLock { $0 } }

  func responseBegins(status: Int, headers: [HTTPHeader]) {
    lastHead.withLock { $0 = Head(status: status, headers: headers) }
    observer.responseBegins(status: status, headers: headers)
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
