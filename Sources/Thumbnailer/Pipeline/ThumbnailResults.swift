import Synchronization

/// The results of many requests in the order of completion. See `ThumbnailPipeline.thumbnails(for:window:)`.
///
/// Made for one pass by one consumer: each iterator starts the requests anew.
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

  /// Hands out results and tops up the requests under way.
  public final class Iterator: AsyncIteratorProtocol {
    private let pipeline: ThumbnailPipeline
    private let requests: AnyIterator<ThumbnailRequest>
    private let window: Int
    private let tasks = TaskBag()
    private let results: AsyncStream<ThumbnailResult>
    private let continuation: AsyncStream<ThumbnailResult>.Continuation
    private var resultsIterator: AsyncStream<ThumbnailResult>.Iterator
    private var started = 0
    private var taken = 0
    private var isExhausted = false

    fileprivate init(pipeline: ThumbnailPipeline, requests: AnyIterator<ThumbnailRequest>, window: Int) {
      self.pipeline = pipeline
      self.requests = requests
      self.window = window
      (results, continuation) = AsyncStream.makeStream(of: ThumbnailResult.self)
      resultsIterator = results.makeAsyncIterator()
    }

    deinit { tasks.cancelAll() }

    /// The next result to be complete; nil when all requests are answered or the calling task is cancelled.
    public func next() async -> ThumbnailResult? {
      while !isExhausted, started - taken < window, !Task.isCancelled {
        guard let request = requests.next() else {
          isExhausted = true
          break
        }
        start(request)
      }
      guard taken < started else { return nil }
      let result = await resultsIterator.next()
      if result == nil { tasks.cancelAll() } else { taken += 1 }
      return result
    }

    private func start(_ request: ThumbnailRequest) {
      let index = started
      started += 1
      tasks.start { [pipeline, continuation] in
        do throws(ThumbnailError) {
          let response = try await pipeline.response(for: request)
          continuation.yield(ThumbnailResult(index: index, request: request, result: .success(response)))
        } catch {
          continuation.yield(ThumbnailResult(index: index, request: request, result: .failure(error)))
        }
      }
    }
  }
}

/// Running tasks that can be cancelled together; finished ones are forgotten.
final class TaskBag: Sendable {
  private let state = Mutex<(next: Int, tasks: [Int: Task<Void, Never>])>((0, [:]))

  func start(_ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      state.next += 1
      let number = state.next
      // The task takes itself out, which waits for the lock until it is in.
      state.tasks[number] = Task { [weak self] in
        await work()
        self?.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
      }
    }
  }

  func cancelAll() {
    let tasks = state.withLock { Array($0.tasks.values) }
    for task in tasks { task.cancel() }
  }

  /// Waits for the end of all tasks that run now.
  func waitForAll() async {
    for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
  }
}
