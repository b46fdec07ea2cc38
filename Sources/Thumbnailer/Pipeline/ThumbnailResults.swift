import ThumbnailCore

/// The requests with their results, in the order of completion. See `ThumbnailPipeline.thumbnails(for:window:)`.
struct ThumbnailResults: AsyncSequence, Sendable {
  typealias Element = (request: ThumbnailRequest, result: Result<ThumbnailResponse, ThumbnailError>)
  typealias Failure = Never

  private let pipeline: ThumbnailPipeline
  private let makeRequests: @Sendable () -> AnyIterator<ThumbnailRequest>
  private let window: Int

  init<Requests: Sequence & Sendable>(pipeline: ThumbnailPipeline, requests: Requests, window: Int)
  where Requests.Element == ThumbnailRequest {
    self.pipeline = pipeline
    self.window = Swift.max(1, window)
    makeRequests = { AnyIterator(requests.makeIterator()) }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(pipeline: pipeline, requests: makeRequests(), window: TaskWindow(capacity: window))
  }

  /// Returns results and keeps the window of requests in flight full.
  struct Iterator: AsyncIteratorProtocol {
    fileprivate let pipeline: ThumbnailPipeline
    fileprivate let requests: AnyIterator<ThumbnailRequest>
    fileprivate let window: TaskWindow<Element>
    fileprivate var isExhausted = false

    /// The next result to be complete; nil when all requests are finished or the calling task is cancelled.
    mutating func next() async -> Element? {
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

    private mutating func startMore() {
      while !isExhausted, window.hasRoom, !Task.isCancelled {
        guard let request = requests.next() else {
          isExhausted = true
          return
        }
        window.start { [pipeline] onSilence in
          (request, await pipeline.responses(for: [request], onSilence: onSilence)[0])
        }
      }
    }
  }
}
