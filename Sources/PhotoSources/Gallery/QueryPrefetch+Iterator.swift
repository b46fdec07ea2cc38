import DequeModule
import HTTPTransport
import ThumbnailCore
import Thumbnailer

extension QueryPrefetch {
  /// Performs the actions of the page window as the consumer takes results.
  ///
  /// A photo is done when its result is taken, so a slow consumer causes back-pressure. Photos that wait for a silent
  /// server hold back neither pages nor other photos.
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
    /// Photos not yet started: a page may be long, and each photo in flight takes memory.
    private var waiting: Deque<Photo> = []
    /// Enough in flight to keep all downloads and decodes busy.
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

    /// The next element; nil when everything is done or the calling task is cancelled.
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
