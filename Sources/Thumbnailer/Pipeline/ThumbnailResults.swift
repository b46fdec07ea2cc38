import ThumbnailCore

/// The results of many requests in the order of completion. See `ThumbnailPipeline.thumbnails(for:window:)`.
///
/// For a single pass by one consumer: each iterator starts the requests again.
public struct ThumbnailResults: AsyncSequence, Sendable {
  /// One request's own success or failure.
  public typealias Element = ThumbnailResult
  /// Failures are elements: the sequence itself never throws.
  public typealias Failure = Never

  private let pipeline: ThumbnailPipeline
  private let makeRequests: @Sendable () -> AnyIterator<ThumbnailRequest>
  private let window: Int

  init<Requests: Sequence & Sendable>(pipeline: ThumbnailPipeline, requests: Requests, window: Int)
  where Requests.Element == ThumbnailRequest {
    self.pipeline = pipeline
    self.window = Swift.max(1, window)
    makeRequests = { AnyIterator(requests.makeIterator()) }
  }

  /// Starts from the first request.
  public func makeAsyncIterator() -> Iterator {
    Iterator(pipeline: pipeline, requests: makeRequests(), window: window)
  }

  /// Returns results and keeps the window of requests in flight full.
  public final class Iterator: AsyncIteratorProtocol {
    private let pipeline: ThumbnailPipeline
    private let requests: AnyIterator<ThumbnailRequest>
    private let window: TaskWindow<ThumbnailResult>
    private var started = 0
    private var isExhausted = false

    fileprivate init(pipeline: ThumbnailPipeline, requests: AnyIterator<ThumbnailRequest>, window: Int) {
      self.pipeline = pipeline
      self.requests = requests
      self.window = TaskWindow(capacity: window)
    }

    /// The next result to be complete; nil when all requests are finished or the calling task is cancelled.
    public func next() async -> ThumbnailResult? {
      while true {
        startMore()
        guard !window.isEmpty else { return nil }
        switch await window.next() {
        case .output(let result): return result
        case .silence: continue
        case nil: return nil
        }
      }
    }

    private func startMore() {
      while !isExhausted, window.hasRoom, !Task.isCancelled {
        guard let request = requests.next() else {
          isExhausted = true
          return
        }
        start(request)
      }
    }

    private func start(_ request: ThumbnailRequest) {
      let index = started
      started += 1
      window.start { [pipeline] onSilence in
        let results = await pipeline.responses(for: [request], onSilence: onSilence)
        return ThumbnailResult(index: index, request: request, result: results[0])
      }
    }
  }
}
