import ArgumentParser
import Exports
import Foundation
import PhotoSources
import Synchronization
import ThumbnailCore
import Thumbnailer

/// One run of `thumbs prefetch`: consumes the library's results and prints them.
final class PrefetchRun: Sendable {
  private let console = Console.standard
  private let provider: any PhotoProvider
  private let pipeline: ThumbnailPipeline
  private let options: ReportOptions
  private let files: PrefetchFiles
  private let limits: QueryPrefetch.Limits
  private let words: SourceMessages
  private let showsProgress: Bool
  /// Whether all that the run does is to fill a cache that works.
  private let fillsCacheOnly: Bool
  private let progress: ProgressLine
  private let interruption = Interruption()
  /// Says that unrelated photos are used.
  private let standInNotice = OneNotice()
  private let summary: Mutex<RunSummary>

  /// The end of a message about a failure.
  static let kept = "what was fetched is kept in the cache"

  /// A run of the command. Starts its files.
  ///
  /// - Throws: `FileWriteError` if one of them cannot be written.
  init(_ command: PrefetchCommand, provider: any PhotoProvider, pipeline: ThumbnailPipeline) throws {
    (self.provider, self.pipeline, options) = (provider, pipeline, command.report)
    files = try PrefetchFiles(command, provider: provider)
    summary = Mutex(RunSummary(pipeline.statistics))
    limits = command.source.limits
    words = SourceMessages(command.source, provider)
    showsProgress = options.showsProgress
    let look = command.look
    fillsCacheOnly =
      !options.json && look.export == nil && look.sheet == nil && pipeline.cacheProblem == nil
      && pipeline.cacheRestriction == nil
    progress = ProgressLine(title: command.source.title) { [pipeline] in
      let silent = pipeline.silentDownloads
      return silent.values.reduce(0, +) == pipeline.activeJobs ? silent : [:]
    }
  }

  /// Runs to the end, or to Ctrl-C, prints the summary and returns the exit status.
  func run(_ prefetch: QueryPrefetch) async -> ExitCode {
    let cache = CacheNotices(pipeline, isQuiet: options.quiet)
    if showsProgress { progress.start() }
    let notice = options.quiet ? nil : PauseNotice(pipeline)
    defer { withExtendedLifetime(notice) {} }
    let started = ContinuousClock.now
    var failure = await consume(prefetch)
    await pipeline.flush()
    await progress.stop()
    var closing = PrefetchFiles.Closing()
    // If one of the files could not be written, none is completed.
    if !(failure is FileWriteError) {
      let isWhole = failure == nil && interruption.signal == nil
      do { closing = try await files.finish(isWhole: isWhole) } catch { failure = error }
    }
    let isComplete = failure == nil && interruption.signal == nil
    let counts = summary.withLock { [closing] summary in
      summary.provider = provider.name
      // `matching` only shows the number of results beyond the page limit.
      if !isComplete { summary.matching = nil }
      (summary.exportedFiles, summary.exportText) = (closing.exported, closing.summary)
      (summary.statistics, summary.duration) = (pipeline.statistics, .now - started)
      return summary
    }
    cache.reportReplacement()
    var status = await judge(failure, counts)
    cache.reportProblem()
    for complaint in closing.complaints { console.complain(complaint) }
    if status == .success, pipeline.cacheProblem != nil || closing.isIncomplete { status = .someFailed }
    // The problem has been printed; counts of zero add nothing.
    let isEmpty = counts.pictures == 0 && !options.json
    if failure is SystemFailure || isEmpty && (isComplete || failure is ProviderError) { return status }
    do {
      if options.json {
        try console.print(counts.json.summaryLine)
      } else if !options.quiet {
        try console.print(counts.text)
      }
      return status
    } catch {
      return console.report(CommandFailure(error, keeping: Self.kept))
    }
  }

  /// Takes all events. Returns the error that ended them early, unless that was a signal.
  private func consume(_ prefetch: QueryPrefetch) async -> (any Error)? {
    do {
      try await interruption.cancelling { [self] in
        for try await event in prefetch { try await take(event) }
        // Otherwise a run would never revalidate the stale thumbnails that it was allowed to use.
        await pipeline.finishRevalidations()
      }
      return nil
    } catch ProviderError.cancelled {
      return nil
    } catch {
      return error is CancellationError ? nil : error
    }
  }

  private func take(_ event: QueryPrefetch.Element) async throws {
    switch event {
    case .page(_, let total):
      if let notice = provider.standInNotice, !options.quiet { standInNotice.say(notice) }
      if let total, limits.photos == nil { summary.withLock { $0.matching = total } }
      guard showsProgress else { return }
      let perPage = min(limits.perPage, provider.capabilities.largestPageSize ?? .max)
      let ofPages = limits.pages.map { Int(bounded: Double($0) * Double(perPage)) }
      let most = [total, limits.photos, ofPages].compactMap { $0 }.min()
      progress.update { $0.expected = total == nil && limits.photos == nil ? nil : most }
    case .skipped(let item):
      try take(PictureReport(item), named: words.place(of: item))
      try files.add(item)
    case .photo(let outcome):
      // A photo cancelled by Ctrl-C counts as neither done nor failed.
      if outcome.firstError == .cancelled { return }
      let added = try await files.add(outcome)
      try take(PictureReport(outcome, paths: added.paths), named: outcome.source.displayName)
      if let failure = added.failure { console.complain(failure.message) }
      if fillsCacheOnly, pipeline.cacheProblem != nil {
        throw CommandFailure(.cannotWrite, "stopped, since what follows would not be stored either")
      }
    }
  }

  private func take(
    _ report: PictureReport, named name: @autoclosure () -> String
  ) throws(SystemFailure) {
    summary.withLock { $0.add(report) }
    if options.json {
      try console.printSoon(report.json.line)
    } else if let error = report.error {
      console.complain("\(name()): \(error.message)")
    }
    guard showsProgress else { return }
    let downloaded = pipeline.statistics.downloadedBytes
    progress.update {
      $0.done += 1
      $0.failed += report.status == .failed ? 1 : 0
      $0.downloadedBytes = downloaded
    }
  }

  /// Prints why the run did not complete, and returns its exit status.
  private func judge(_ failure: (any Error)?, _ counts: RunSummary) async -> ExitCode {
    if let failure {
      let isOffline = pipeline.configuration.cacheMode == .offline
      let status = console.report(CommandFailure(failure, keeping: Self.kept, isOffline: isOffline))
      return failure is ProviderError && counts.pictures > 0 ? .someFailed : status
    }
    if let signal = interruption.signal {
      if !options.quiet { console.complain(Interruption.message) }
      return .stopped(by: signal)
    }
    if counts.pictures == 0 { console.complain(await words.nothingFound()) }
    return counts.failed > 0 ? .someFailed : .success
  }
}
