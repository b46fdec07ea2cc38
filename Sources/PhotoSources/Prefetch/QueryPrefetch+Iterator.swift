import DequeModule
import ThumbnailCore
import Thumbnailer

extension QueryPrefetch {
  /// Performs the actions of the page window as the consumer takes results.
  ///
  /// A photo is done when its result is taken, so a slow consumer causes back-pressure. A bounded number of finished
  /// photos wait for the disk meanwhile. Photos that wait for a silent server delay neither pages nor other photos.
  public final class Iterator: AsyncIteratorProtocol {
    private enum Response: Sendable {
      case page(Result<PhotoPage, ProviderError>)
      case photo(PhotoOutcome)
      /// A photo of `uncommitted`, by its number, whose thumbnails have been written.
      case committed(PhotoOutcome, number: Int)
    }

    private let prefetch: QueryPrefetch
    private let query: PhotoQuery
    private var pages: PageWindow
    /// Photos in flight, enough to keep all downloads and decodes busy; beside them the request for a page.
    private let tasks: TaskWindow<Response>
    private var ready: Deque<Element> = []
    /// Photos not yet started: a page may be long, and each photo in flight takes memory.
    private var waiting: Deque<Photo> = []
    /// Photos that are done, until their thumbnails have been written, by number.
    private var uncommitted: [Int: PhotoOutcome] = [:]
    private var lastNumber = 0
    /// The most of `uncommitted` that more photos are started beside.
    private let mostUncommitted: Int
    private var isStarted = false
    private var ending: Result<Void, ProviderError>?

    init(_ prefetch: QueryPrefetch) {
      self.prefetch = prefetch
      let capacity = 4 * (prefetch.pipeline.configuration.downloads + prefetch.pipeline.configuration.jobs)
      tasks = TaskWindow(capacity: capacity)
      mostUncommitted = 4 * capacity
      query = PhotoQuery(prefetch.query, pageSize: prefetch.limits.perPage)
      let rules = PagedSearch.Rules(prefetch.limits, prefetch.provider.capabilities)
      pages = PageWindow(PagedSearch(rules: rules), ahead: prefetch.limits.ahead)
    }

    /// The next element; nil when everything is done or the calling task is cancelled.
    public func next() async throws(ProviderError) -> Element? {
      if !isStarted {
        isStarted = true
        carryOut(pages.start())
      }
      while true {
        if let element = ready.popFirst() { return element }
        if let ending, uncommitted.isEmpty {
          try ending.get()
          return nil
        }
        // No more results come that could be written together with them.
        let isDue = tasks.isEmpty || uncommitted.count >= mostUncommitted
        if isDue, !uncommitted.isEmpty { prefetch.pipeline.writeSoon() }
        switch await tasks.next() {
        case .output(let response): take(response)
        case .silence: carryOut(pages.setUncounted(tasks.uncounted))
        case nil:
          // The task was cancelled. Finished photos are still reported, and no more are begun.
          ending = .success(())
          await takeUncommitted()
          continue
        }
        startWaiting()
      }
    }

    private func takeUncommitted() async {
      prefetch.pipeline.writeSoon()
      for (_, outcome) in uncommitted.sorted(by: { $0.key < $1.key }) {
        ready.append(.photo(await outcome.committed()))
      }
      uncommitted = [:]
    }

    private func take(_ response: Response) {
      switch response {
      case .page(.success(let page)):
        let before = pages.search.photos
        let actions = pages.pageArrived(page)
        ready.append(.page(photos: pages.search.photos - before, total: page.total))
        ready.append(contentsOf: page.skipped.map { .skipped($0) })
        carryOut(actions)
      case .page(.failure(let error)):
        carryOut(pages.pageFailed(error))
      case .committed(let outcome, let number):
        if uncommitted.removeValue(forKey: number) != nil { ready.append(.photo(outcome)) }
      case .photo(let outcome):
        if outcome.isPending { waitForCommit(of: outcome) } else { ready.append(.photo(outcome)) }
        carryOut(pages.photoDone(uncounted: tasks.uncounted))
      }
    }

    /// Outside the window, so that the wait delays no other photo.
    private func waitForCommit(of outcome: PhotoOutcome) {
      lastNumber += 1
      uncommitted[lastNumber] = outcome
      tasks.startBeside { [number = lastNumber] in .committed(await outcome.committed(), number: number) }
    }

    private func carryOut(_ actions: [PageWindow.Action]) {
      for action in actions {
        switch action {
        case .requestPage(let cursor): requestPage(cursor)
        case .emit(let photos): waiting.append(contentsOf: photos)
        case .finish(let failure): ending = failure.map { .failure($0) } ?? .success(())
        }
      }
    }

    private func requestPage(_ cursor: PageCursor?) {
      tasks.startBeside { [prefetch, query] in
        do throws(ProviderError) {
          return .page(.success(try await prefetch.page(query, at: cursor)))
        } catch {
          return .page(.failure(error))
        }
      }
    }

    private func startWaiting() {
      while tasks.hasRoom, uncommitted.count < mostUncommitted, let photo = waiting.popFirst() {
        tasks.start { [prefetch] onSilence in
          let started = ContinuousClock.now
          let source = photo.source(for: prefetch.variants).adding(prefetch.headers)
          let requests = prefetch.variants.map { ThumbnailRequest(source, variant: $0, priority: .prefetch) }
          let results = await prefetch.pipeline.responses(for: requests, onSilence: onSilence)
          return .photo(PhotoOutcome(photo: photo, source: source, results: results, duration: .now - started))
        }
      }
    }
  }
}

extension PagedSearch.Rules {
  /// The number of remembered photos of an endless list: more than any photo search returns.
  static let memoryOfPrefetch = 16_384

  /// The rules of a prefetch. It ends after one barren page of a service that may repeat itself without end, because
  /// each page costs one of the few requests that services allow. An unusable page is no repetition: a list may have
  /// many unusable lines in a row.
  init(_ limits: QueryPrefetch.Limits, _ capabilities: ProviderCapabilities) {
    keepsRepeats = capabilities.repeatsOnPurpose
    if capabilities.mayLoop { mostBarrenPages = 1 }
    countsUnusablePages = false
    memory = Self.memoryOfPrefetch
    pages = limits.pages ?? .max
    photos = limits.photos ?? .max
  }
}
