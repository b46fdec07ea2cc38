import TestSupport

@testable import ThumbnailCore
@testable import Thumbnailer

extension Prefetcher {
  /// Returns when everything in the window is ready or has failed.
  func waitUntilSettled() async { await poll { isSettled } }
}

/// A prefetcher for one column of cells 100 points high, with four in view, and its own pipeline and origin.
struct PrefetcherFixture {
  let fixture: PipelineFixture
  let prefetcher: Prefetcher
  /// Grows on a task of its own: poll for what is expected, also after `waitUntilSettled()`.
  let events: Recorder<PrefetcherEvent>
  // Real time: the prefetcher's. All that is shown was so long ago that it is at rest.
  private let begin = ContinuousClock.now - .seconds(1_000)
  private let steps = Counter()

  var origin: Origin { fixture.origin }
  var pipeline: ThumbnailPipeline { fixture.pipeline }

  /// The paths of the requests to the origin, in order.
  var paths: [String] { origin.requests.map(\.path) }

  /// - Parameter isPatient: Whether images are expected to take seconds, so that none counts as slow while a gate holds
  ///   it, however slow the machine.
  init(
    items: Int = 100, isPatient: Bool = true,
    configuring configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in },
    options change: (inout Prefetcher.Options) -> Void = { _ in },
    answer: (@Sendable (OriginRequest) -> OriginResponse)? = nil
  ) throws {
    fixture = try PipelineFixture(configuring: configure, answer: answer ?? { _ in .picture })
    prefetcher = try Self.prefetcher(on: fixture, isPatient: isPatient, change)
    events = Recorder()
    let stream = prefetcher.events
    Task { [events] in
      for await event in stream { events.append(event) }
    }
    prefetcher.setItems(sources(items))
  }

  static func prefetcher(
    on fixture: PipelineFixture, isPatient: Bool = true, _ change: (inout Prefetcher.Options) -> Void = { _ in }
  ) throws -> Prefetcher {
    var options = Prefetcher.Options()
    change(&options)
    let prefetcher = Prefetcher(
      pipeline: fixture.pipeline, layout: GridLayout(columns: 1, cell: PixelSize(40, 40), scale: 0.4),
      options: options)
    if isPatient { prefetcher.state.withLock { $0.schedule.pace.record(.seconds(3), bytes: 3_000) } }
    return prefetcher
  }

  func source(_ index: Int) -> ImageSource { ImageSource(origin.url("/\(index)")) }

  func sources(_ count: Int) -> [ImageSource] { (0..<count).map { source($0) } }

  func request(_ index: Int, priority: Thumbnailer.Priority = .visible) -> ThumbnailRequest {
    ThumbnailRequest(source(index), variant: prefetcher.variant, priority: priority)
  }

  /// Scrolls a row to the upper edge of the viewport, at rest, one second after the last call.
  func show(row: Int) {
    prefetcher.setViewport(Viewport(offset: Double(row) * 100, height: 400, time: begin + .seconds(steps.increment())))
  }

  /// Shows a row, and waits until all that is fetched for that has come.
  func settle(row: Int) async {
    show(row: row)
    await prefetcher.waitUntilSettled()
  }

  /// Occupies the only download slot until the gate opens, so that everything else queues.
  func block(until gate: Gate) async -> Task<Thumbnail, any Error> {
    let url = origin.url("/blocker")
    let task = Task { [pipeline] in
      try await pipeline.thumbnail(for: ThumbnailRequest(url, size: PixelSize(40, 40), fit: .cover)) as Thumbnail
    }
    await poll { origin.requests.contains { $0.path == "/blocker" } }
    return task
  }

  /// The items whose work was started, in order.
  var started: [Int] {
    events.values.compactMap { if case .started(let index, _, _) = $0 { index } else { nil } }
  }

  /// The items whose thumbnail is ready, in order, with its origin.
  var ready: [(index: Int, origin: ThumbnailResponse.Origin)] {
    events.values.compactMap { event in
      if case .ready(let index, _, let response) = event { (index, response.origin) } else { nil }
    }
  }

  var cancelled: [Int] {
    events.values.compactMap { if case .cancelled(let index, _) = $0 { index } else { nil } }
  }

  var failed: [(index: Int, error: ThumbnailError)] {
    events.values.compactMap { if case .failed(let index, _, let error) = $0 { (index, error) } else { nil } }
  }
}

/// The paths of these items.
func paths(_ indices: some Sequence<Int>) -> [String] { indices.map { "/\($0)" } }
