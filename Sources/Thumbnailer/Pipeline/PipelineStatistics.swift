import Synchronization

/// What a pipeline has done since it was made.
public struct PipelineStatistics: Sendable, Equatable {
  /// Thumbnails answered from memory.
  public var memoryHits = 0
  /// Thumbnails answered from the disk cache, shrunk, confirmed and out-of-date ones included.
  public var diskHits = 0
  /// Thumbnails made from their pictures.
  public var rendered = 0
  /// Thumbnails made of what can be read of damaged pictures; `rendered` counts them, too.
  public var damaged = 0
  /// Requests that failed, cancelled ones not counted.
  public var failures = 0
  /// Downloads that brought a body, be it a part. Local files are not counted.
  public var downloads = 0
  /// Bytes of pictures received, those of refused and broken-off ones and of all attempts included, and the lengths of
  /// the local files that were opened.
  public var downloadedBytes = 0
  /// Bytes of pictures that were not downloaded because no thumbnail needed them, as far as servers told the lengths.
  public var bytesLeft = 0
  /// Decodes that ran.
  public var decodes = 0
  /// Bytes of thumbnails handed to the disk cache, less those that could not be written.
  public var storedBytes = 0
  /// Requests that joined a job that ran already.
  public var joins = 0
  /// Pictures whose stored thumbnails were out of date and whose server said that they still hold (304).
  public var revalidations = 0
  /// Pictures whose stored thumbnails were out of date and were replaced, since their server sent the picture anew.
  public var replacements = 0
  /// Thumbnails that were handed out though out of date, since their server could not be asked.
  public var servedStale = 0
  /// Thumbnails that were handed out though out of date, while their server is asked, which allows that.
  public var servedWhileRevalidating = 0
  /// Requests that failed without asking anybody, since the picture was not to be had a while ago.
  public var rememberedFailures = 0
  /// Requests that failed since nothing is downloaded offline.
  public var offlineMisses = 0

  /// All counters by the names of their properties, in their order: for forwarding to whatever collects figures.
  ///
  /// They only grow while a pipeline lives, but for `storedBytes` and `bytesLeft`, which give back what turned out
  /// otherwise.
  public var counters: [(name: String, value: Int)] {
    Mirror(reflecting: self).children.compactMap { child in
      guard let name = child.label, let value = child.value as? Int else { return nil }
      return (name, value)
    }
  }
}

/// The counters behind `PipelineStatistics`.
final class StatisticsCounter: Sendable {
  private let values = Mutex(PipelineStatistics())

  /// The counts now.
  var current: PipelineStatistics { values.withLock { $0 } }

  func add<Number: AdditiveArithmetic>(
    _ number: Number, to path: any WritableKeyPath<PipelineStatistics, Number> & Sendable
  ) {
    values.withLock { $0[keyPath: path] += number }
  }
}
