import ArgumentParser
import Foundation
import PhotoSources
import Synchronization
import Thumbnailer

/// One run of `thumbs prefetch --simulate`: simulates a scroll and reports which thumbnails were ready when they came
/// into view.
struct SimulationRun: Sendable {
  let source: SourceOptions
  let scroll: NamedTrace
  let layout: GridLayout
  let rows: Double
  let pace: ScrollSimulation.Pace
  let provider: any PhotoProvider
  let pipeline: ThumbnailPipeline
  let feed: PageFeed
  /// The variant of the cells.
  let variant: Variant
  let report: ReportOptions
  /// The path of the page with the timeline; nil for none.
  let sheet: String?

  /// The pages loaded so far.
  private final class Fed: Sendable {
    private let state = Mutex((sources: [ImageSource](), skipped: 0, isDone: false, failure: ProviderError?.none))

    var sources: [ImageSource] { state.withLock(\.sources) }
    var skipped: Int { state.withLock(\.skipped) }
    var isDone: Bool { state.withLock(\.isDone) }
    var failure: ProviderError? { state.withLock(\.failure) }

    func add(_ sources: [ImageSource], skipping count: Int) {
      state.withLock { state in
        state.sources += sources
        state.skipped += count
      }
    }

    func end(with failure: ProviderError?) {
      state.withLock { ($0.isDone, $0.failure) = (true, failure == .cancelled ? nil : failure) }
    }
  }

  private let console = Console.standard

  /// Scrolls to the end, or to Ctrl-C, prints the report and returns the exit status.
  func run() async throws -> ExitCode {
    let interruption = Interruption()
    let cache = CacheNotices(pipeline, isQuiet: report.quiet)
    let prefetcher = Prefetcher(pipeline: pipeline, layout: layout, variant: variant)
    let progress = ProgressLine(title: "scrolling \(scroll.name)")
    let watching = report.showsProgress ? show(progress, of: prefetcher) : nil
    let fed = Fed()
    let scrolled = try? await interruption.cancelling {
      let result = await play(on: prefetcher, fed)
      await pipeline.finishRevalidations()
      return result
    }
    await pipeline.flush()
    watching?.cancel()
    await progress.stop()
    guard var result = scrolled else { return .stopped(by: interruption.signal ?? SIGINT) }
    result.peakMemoryBytes = ProcessMemory.peak
    if let notice = provider.standInNotice, !report.quiet { console.complain(notice) }
    cache.reportReplacement()
    cache.reportProblem()
    let (sources, failure) = (fed.sources, fed.failure)
    if let failure {
      let isOffline = pipeline.configuration.cacheMode == .offline
      let status = console.report(CommandFailure(failure, isOffline: isOffline))
      if result.cells.isEmpty { return status }
    } else if sources.isEmpty, fed.skipped == 0, interruption.signal == nil {
      console.complain(await SourceMessages(source, provider).nothingFound())
    }
    try finish(
      SimulationReport(
        report: result, trace: scroll.name, provider: provider.name, sources: sources, skipped: fed.skipped))
    if let signal = interruption.signal { return .stopped(by: signal) }
    let isWhole = failure == nil && fed.skipped == 0 && result.cells.allSatisfy { $0.failure == nil }
    return isWhole && pipeline.cacheProblem == nil ? .success : .someFailed
  }

  /// Plays the scroll while the feed loads pages on demand.
  private func play(on prefetcher: Prefetcher, _ fed: Fed) async -> ScrollReport {
    let words = SourceMessages(source, provider)
    let feeding = Task {
      do throws(ProviderError) {
        try await feed.run(into: prefetcher) { sources, skipped in
          fed.add(sources, skipping: skipped.count)
          for item in skipped { console.complain("\(words.place(of: item)): \(item.reason)") }
        }
        fed.end(with: nil)
      } catch {
        fed.end(with: error)
      }
    }
    defer { feeding.cancel() }
    let simulation = ScrollSimulation(trace: scroll.trace, viewHeight: rows * layout.rowPitch, pace: pace)
    return await simulation.run(on: prefetcher) { !fed.isDone }
  }

  /// Draws the progress of the cells until the task is cancelled.
  private func show(_ progress: ProgressLine, of prefetcher: Prefetcher) -> Task<Void, Never> {
    progress.start()
    return Task { [events = prefetcher.events(), pipeline] in
      for await event in events {
        let hasFailed: Bool
        switch event {
        case .ready: hasFailed = false
        case .failed: hasFailed = true
        case .started, .cancelled, .settled: continue
        }
        let downloaded = pipeline.statistics.downloadedBytes
        progress.update { values in
          values.done += 1
          if hasFailed { values.failed += 1 }
          values.downloadedBytes = downloaded
        }
      }
    }
  }

  /// Prints the report and writes the sheet.
  private func finish(_ result: SimulationReport) throws {
    if !report.json {
      for failure in result.failures { console.complain(failure) }
    }
    if report.json {
      for line in result.cellLines { try console.print(line) }
      try console.print(result.json)
    } else if !report.quiet, !result.isEmpty {
      try console.print(result.text)
    }
    guard let sheet else { return }
    do throws(ReportFile.Failure) {
      try OutputFile.write(Data(result.page.utf8), to: sheet)
    } catch {
      throw CommandFailure(error, choose: "another --sheet")
    }
  }
}
