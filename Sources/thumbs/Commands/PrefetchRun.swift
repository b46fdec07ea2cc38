import ArgumentParser
import Foundation
import Synchronization
import Thumbnailer

/// One run of `thumbs prefetch`: takes what the library finishes and says so.
struct PrefetchRun: Sendable {
  let console: Console
  let provider: any PhotoProvider
  let pipeline: ThumbnailPipeline
  let options: ReportOptions
  let limits: QueryPrefetch.Limits
  private let progress: ProgressLine
  private let interruption = Interruption()
  private let tally = Tally()

  init(
    title: String, console: Console, provider: any PhotoProvider, pipeline: ThumbnailPipeline,
    options: ReportOptions, limits: QueryPrefetch.Limits
  ) {
    self.console = console
    self.provider = provider
    self.pipeline = pipeline
    self.options = options
    self.limits = limits
    progress = ProgressLine(title: title, console: console)
  }

  /// How a run came to its end.
  private enum Ending {
    case complete
    case sourceFailed(ProviderError)
    case interrupted(signal: Int32)
    case outputFailed(Console.WriteError)
  }

  /// Runs to the end, or to Ctrl-C, prints the summary and returns the exit status.
  func run(_ prefetch: QueryPrefetch) async -> ExitCode {
    if let problem = pipeline.cacheProblem { console.complain("\(problem); going on without the disk cache") }
    if options.showsProgress { progress.start() }
    let started = ContinuousClock.now
    let ending = await consume(prefetch)
    await pipeline.flush()
    await progress.stop()
    return report(tally.finish(pipeline.statistics, provider: provider.name, since: started), ending)
  }

  private func consume(_ prefetch: QueryPrefetch) async -> Ending {
    do {
      try await interruption.cancelling {
        let lines = JSONLines()
        for try await event in prefetch { try take(event, lines) }
      }
    } catch let error as Console.WriteError {
      return .outputFailed(error)
    } catch let error as ProviderError where error != .cancelled {
      return .sourceFailed(error)
    } catch {}
    return interruption.signal.map { .interrupted(signal: $0) } ?? .complete
  }

  private func take(_ event: QueryPrefetch.Element, _ lines: JSONLines) throws {
    switch event {
    case .page(_, let total):
      let most = [total, limits.photos, limits.pages.map { $0 * limits.perPage }].compactMap { $0 }.min()
      progress.update { $0.expected = total == nil && limits.photos == nil ? nil : most }
    case .skipped(let item):
      try take(PictureReport(item), lines)
    case .photo(let outcome):
      // What a Ctrl-C cut short is neither done nor failed.
      if outcome.firstError == .cancelled { return }
      try take(PictureReport(outcome), lines)
    }
  }

  private func take(_ report: PictureReport, _ lines: JSONLines) throws {
    tally.add(report)
    if options.json { try console.print(try lines.line(report)) }
    if let error = report.error, !options.json {
      console.complain("\(report.url.isEmpty ? report.id : report.url): \(error.message)")
    }
    let downloaded = pipeline.statistics.downloadedBytes
    progress.update {
      $0.done += 1
      $0.failed += report.status == .failed ? 1 : 0
      $0.downloadedBytes = downloaded
    }
  }

  private func report(_ summary: RunSummary, _ ending: Ending) -> ExitCode {
    var status = summary.failed > 0 ? ExitCode.someFailed : .success
    switch ending {
    case .complete:
      if summary.pictures == 0 { console.complain(nothingFound) }
      if let problem = pipeline.cacheProblem {
        console.complain("not everything is stored: \(problem)")
        status = .someFailed
      }
    case .sourceFailed(let error):
      console.complain(error.message)
      status = summary.pictures == 0 ? error.exitCode : .someFailed
    case .interrupted(let signal):
      status = ExitCode(128 + signal)
    case .outputFailed(.closed):
      return .cannotWrite
    case .outputFailed(.failed(let reason)):
      console.complain("stdout cannot be written: \(reason); what was fetched is kept in the cache")
      return .cannotWrite
    }
    do {
      if options.json {
        try console.print(try JSONLines().line(["summary": summary]))
      } else if !options.quiet {
        try console.print(summary.text)
      }
    } catch {
      return .cannotWrite
    }
    return status
  }

  private var nothingFound: String {
    provider.name == "urls"
      ? "the list holds no URL; write one a line" : "\(provider.name) has no picture for that; try other words"
  }
}

extension ProviderError {
  /// The exit status of a run that fetched nothing because of it.
  var exitCode: ExitCode {
    switch self {
    case .keyMissing, .nothingConfigured, .unknownProvider, .invalidAddress, .unsupported, .badRequest:
      .validationFailure
    default: .sourceUnavailable
    }
  }
}

/// The counts of a run while it goes on.
private final class Tally: Sendable {
  private let summary = Mutex(RunSummary())

  func add(_ report: PictureReport) {
    summary.withLock { $0.add(report) }
  }

  func finish(
    _ statistics: PipelineStatistics, provider: String, since started: ContinuousClock.Instant
  ) -> RunSummary {
    summary.withLock {
      $0.provider = provider
      $0.finish(statistics, since: started)
      return $0
    }
  }
}
