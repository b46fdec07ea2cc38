import DequeModule
import HTTPTransport
import ThumbnailCore
import Thumbnailer

extension QueryPrefetch {
  /// Carries out what the page window decides, as the consumer takes what is finished.
  ///
  /// A picture counts as done when it is taken, so a consumer that falls behind holds the source back. One that waits for
  /// a silent server holds back neither the pages nor the other pictures.
  public final class Iterator: AsyncIteratorProtocol {
    private enum Arrival: Sendable {
      case page(Result<PhotoPage, ProviderError>)
      case photo(PhotoOutcome, number: Int)
      case silence(number: Int, ServerSilence)
    }

    private let prefetch: QueryPrefetch
    private let query: PhotoQuery
    private var window: PageWindow
    private let tasks = TaskBag()
    private let continuation: AsyncStream<Arrival>.Continuation
    private var arrivals: AsyncStream<Arrival>.Iterator
    private var ready: Deque<Element> = []
    /// Pictures that have come and were not begun: a page may be long, and each picture under way takes memory.
    private var waiting: Deque<Photo> = []
    /// As many under way as keep every download and every decode busy.
    private var inFlight: InFlightWindow
    private var lastNumber = 0
    private var isStarted = false
    private var ending: Result<Void, ProviderError>?

    init(_ prefetch: QueryPrefetch) {
      self.prefetch = prefetch
      inFlight = InFlightWindow(
        capacity: 4 * (prefetch.pipeline.configuration.downloads + prefetch.pipeline.configuration.jobs))
      query = PhotoQuery(prefetch.query, pageSize: prefetch.limits.perPage)
      window = PageWindow(
        ahead: prefetch.limits.ahead, pageLimit: prefetch.limits.pages, photoLimit: prefetch.limits.photos,
        endsAtRepetition: prefetch.provider.capabilities.mayRunInCircles,
        keepsRepetitions: prefetch.provider.capabilities.repeatsOnPurpose)
      let (stream, continuation) = AsyncStream.makeStream(of: Arrival.self)
      self.continuation = continuation
      arrivals = stream.makeAsyncIterator()
    }

    deinit { tasks.cancelAll() }

    /// What happens next; nil when everything is done or the calling task is cancelled.
    public func next() async throws(ProviderError) -> Element? {
      if !isStarted {
        isStarted = true
        carryOut(window.start())
      }
      while true {
        if let element = ready.popFirst() { return element }
        if let ending {
          try ending.get()
          return nil
        }
        guard let arrival = await arrivals.next() else {
          tasks.cancelAll()
          return nil
        }
        take(arrival)
      }
    }

    private func take(_ arrival: Arrival) {
      switch arrival {
      case .page(.success(let page)):
        let before = window.photosEmitted
        let actions = window.pageArrived(page)
        ready.append(.page(photos: window.photosEmitted - before, total: page.total))
        ready.append(contentsOf: page.skipped.map { .skipped($0) })
        carryOut(actions)
      case .page(.failure(let error)):
        carryOut(window.pageFailed(error))
      case .photo(let outcome, let number):
        ready.append(.photo(outcome))
        inFlight.end(number)
        carryOut(window.photoDone(uncounted: inFlight.uncounted))
        startWaiting()
      case .silence(let number, let silence):
        inFlight.setSilence(number, silence)
        carryOut(window.setUncounted(inFlight.uncounted))
        startWaiting()
      }
    }

    private func carryOut(_ actions: [PageWindow.Action]) {
      for action in actions {
        switch action {
        case .requestPage(let cursor): requestPage(cursor)
        case .emit(let photos):
          waiting.append(contentsOf: photos)
          startWaiting()
        case .finish(let failure): ending = failure.map { .failure($0) } ?? .success(())
        }
      }
    }

    private func requestPage(_ cursor: PageCursor?) {
      tasks.start { [prefetch, query, continuation] in
        do throws(ProviderError) {
          continuation.yield(.page(.success(try await prefetch.page(query, at: cursor))))
        } catch {
          continuation.yield(.page(.failure(error)))
        }
      }
    }

    private func startWaiting() {
      while inFlight.hasRoom, let next = waiting.popFirst() {
        lastNumber += 1
        inFlight.begin(lastNumber)
        start(next, as: lastNumber)
      }
    }

    private func start(_ photo: Photo, as number: Int) {
      tasks.start { [prefetch, continuation] in
        let started = ContinuousClock.now
        let source = photo.source(for: prefetch.variants, original: prefetch.original).adding(prefetch.headers)
        let results = await prefetch.pipeline.responses(
          for: source, variants: prefetch.variants, priority: .prefetch
        ) { continuation.yield(.silence(number: number, $0)) }
        let outcome = PhotoOutcome(photo: photo, source: source, results: results, duration: .now - started)
        continuation.yield(.photo(outcome, number: number))
      }
    }
  }
}
