import HTTPTransport
import Synchronization
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
    private enum Arrival: Sendable {
      case result(ThumbnailResult)
      case silence(index: Int, ServerSilence)
    }

    private let pipeline: ThumbnailPipeline
    private let requests: AnyIterator<ThumbnailRequest>
    private var inFlight: InFlightWindow
    private let tasks = TaskBag()
    private let continuation: AsyncStream<Arrival>.Continuation
    private var arrivals: AsyncStream<Arrival>.Iterator
    private var started = 0
    private var isExhausted = false

    fileprivate init(pipeline: ThumbnailPipeline, requests: AnyIterator<ThumbnailRequest>, window: Int) {
      self.pipeline = pipeline
      self.requests = requests
      inFlight = InFlightWindow(capacity: window)
      let (stream, continuation) = AsyncStream.makeStream(of: Arrival.self)
      self.continuation = continuation
      arrivals = stream.makeAsyncIterator()
    }

    deinit { tasks.cancelAll() }

    /// The next result to be complete; nil when all requests are finished or the calling task is cancelled.
    public func next() async -> ThumbnailResult? {
      while true {
        startMore()
        guard inFlight.count > 0 else { return nil }
        switch await arrivals.next() {
        case .result(let result):
          inFlight.end(result.index)
          return result
        case .silence(let index, let silence):
          inFlight.setSilence(index, silence)
        case nil:
          tasks.cancelAll()
          return nil
        }
      }
    }

    private func startMore() {
      while !isExhausted, inFlight.hasRoom, !Task.isCancelled {
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
      inFlight.begin(index)
      tasks.start { [pipeline, continuation] in
        let results = await pipeline.responses(for: [request]) { continuation.yield(.silence(index: index, $0)) }
        continuation.yield(.result(ThumbnailResult(index: index, request: request, result: results[0])))
      }
    }
  }
}

/// Running tasks that can be cancelled together; finished ones are removed.
package final class TaskBag: Sendable {
  private let state = Mutex<(next: Int, tasks: [Int: Task<Void, Never>])>((0, [:]))

  package init() {}

  package func start(_ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      state.next += 1
      let number = state.next
      // The task removes itself, which waits for the lock until it has been added.
      state.tasks[number] = Task { [weak self] in
        await work()
        self?.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
      }
    }
  }

  package func cancelAll() {
    let tasks = state.withLock { Array($0.tasks.values) }
    for task in tasks { task.cancel() }
  }

  /// Waits until all current tasks have ended.
  package func waitForAll() async {
    for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
  }
}
