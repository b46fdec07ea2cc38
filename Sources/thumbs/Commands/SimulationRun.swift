import ArgumentParser
import Foundation
import Synchronization
import Thumbnailer

/// One run of `thumbs prefetch --simulate`: scrolls, and says which thumbnails were there on sight.
struct SimulationRun: Sendable {
  let scroll: NamedTrace
  let layout: GridLayout
  let rows: Double
  let pace: ScrollSimulation.Pace
  let provider: any PhotoProvider
  let pipeline: ThumbnailPipeline
  let feed: PageFeed
  /// The thumbnail of each cell.
  let variant: Variant
  let console: Console
  let report: ReportOptions
  /// Where the page with the timeline goes; nil for none.
  let sheet: String?

  /// What the feed has brought so far.
  private final class Fed: Sendable {
    private let state = Mutex((urls: [String](), isDone: false, failure: ProviderError?.none))

    var urls: [String] { state.withLock(\.urls) }
    var isDone: Bool { state.withLock(\.isDone) }
    var failure: ProviderError? { state.withLock(\.failure) }

    func add(_ sources: [ImageSource]) { state.withLock { $0.urls += sources.map(\.url.absoluteString) } }

    func end(with failure: ProviderError?) {
      state.withLock { ($0.isDone, $0.failure) = (true, failure == .cancelled ? nil : failure) }
    }
  }

  /// Scrolls to the end, or to Ctrl-C, prints the report and returns the exit status.
  func run() async -> ExitCode {
    let interruption = Interruption()
    if let problem = pipeline.cacheProblem { console.complain("\(problem); going on without the disk cache") }
    let prefetcher = Prefetcher(pipeline: pipeline, layout: layout, variant: variant)
    let fed = Fed()
    let simulation = ScrollSimulation(trace: scroll.trace, viewHeight: rows * layout.rowPitch, pace: pace)
    let result = try? await interruption.cancelling { [feed, console, provider] in
      let feeding = Task {
        do throws(ProviderError) {
          try await feed.run(into: prefetcher) { sources, skipped in
            fed.add(sources)
            for item in skipped { console.complain("\(provider.name), \(item.place): \(item.reason)") }
          }
          fed.end(with: nil)
        } catch {
          fed.end(with: error)
        }
      }
      defer { feeding.cancel() }
      return await simulation.run(on: prefetcher) { !fed.isDone }
    }
    await pipeline.flush()
    let (urls, failure) = (fed.urls, fed.failure)
    guard var result else { return .stopped(by: interruption.signal ?? SIGINT) }
    result.peakMemoryBytes = ProcessMemory.peak
    if let reason = (provider as? AutoProvider)?.fallbackReason, !report.quiet {
      console.complain("\(reason); \(provider.name) stands in")
    }
    if let failure {
      console.complain(failure.shownMessage(offline: pipeline.configuration.cacheMode == .offline))
      if result.cells.isEmpty { return failure.exitCode }
    } else if urls.isEmpty, interruption.signal == nil {
      console.complain("\(provider.name) has no picture to scroll through; give other words or another source")
    }
    return finish(
      SimulationReport(result, trace: scroll.name, provider: provider.name, urls: urls), interruption, failure)
  }

  private func finish(
    _ result: SimulationReport, _ interruption: Interruption, _ failure: ProviderError?
  ) -> ExitCode {
    do throws(Console.WriteError) {
      if report.json {
        for line in result.cellLines { try console.print(line) }
        try console.print(result.json)
      } else if !report.quiet, !result.isEmpty {
        try console.print(result.text)
      }
    } catch {
      return console.cannotPrint(error)
    }
    if let sheet {
      do {
        try OutputFile.write(Data(result.page.utf8), to: sheet)
      } catch {
        console.complain("\(sheet) cannot be written: \((error as NSError).plainReason); choose another --sheet")
        return .cannotWrite
      }
    }
    if let signal = interruption.signal { return .stopped(by: signal) }
    return failure != nil || result.failedCells > 0 ? .someFailed : .success
  }
}
