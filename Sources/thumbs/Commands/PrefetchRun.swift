import ArgumentParser
import Exports
import Foundation
import PhotoSources
import Synchronization
import Thumbnailer

/// One run of `thumbs prefetch`: consumes the library's results and prints them.
final class PrefetchRun: Sendable {
  private let console: Console
  private let provider: any PhotoProvider
  private let pipeline: ThumbnailPipeline
  private let options: ReportOptions
  private let files: PrefetchFiles
  private let limits: QueryPrefetch.Limits
  private let words: SourceWords
  private let showsProgress: Bool
  private let progress: ProgressLine
  private let interruption = Interruption()
  private let hasSaidWhatStandsIn = Atomic(false)
  private let summary = Mutex(RunSummary())

  init(
    source: SourceOptions, console: Console, provider: any PhotoProvider, pipeline: ThumbnailPipeline,
    options: ReportOptions, files: PrefetchFiles
  ) {
    self.files = files
    self.console = console
    self.provider = provider
    self.pipeline = pipeline
    self.options = options
    limits = source.limits
    words = SourceWords(source, provider)
    showsProgress = options.showsProgress
    progress = ProgressLine(title: source.title, console: console) { [pipeline] in
      let silent = pipeline.silentDownloads
      return silent.values.reduce(0, +) == pipeline.activeJobs ? silent : [:]
    }
  }

  /// How a run ended.
  private enum Ending {
    case complete
    case sourceFailed(ProviderError)
    case interrupted(signal: Int32)
    case outputFailed(Console.WriteError)
    case filesFailed(message: String)
  }

  /// Runs to the end, or to Ctrl-C, prints the summary and returns the exit status.
  func run(_ prefetch: QueryPrefetch) async -> ExitCode {
    let knownProblem = pipeline.cacheProblem
    if let knownProblem { console.complain("\(knownProblem); going on without the disk cache") }
    let knownReplacement = pipeline.cacheReplacement
    if let knownReplacement { console.complain(knownReplacement) }
    if let exposure = pipeline.cacheExposure, !options.quiet { console.complain(PlainText.withShortPaths(exposure)) }
    if showsProgress { progress.start() }
    let notice = options.quiet ? nil : PauseNotice(pipeline, console: console)
    defer { withExtendedLifetime(notice) {} }
    let started = ContinuousClock.now
    var ending = await consume(prefetch)
    await pipeline.flush()
    await progress.stop()
    let closing = await finishFiles(&ending)
    let counts = summary.withLock { summary in
      summary.provider = provider.name
      if case .complete = ending {} else { summary.matching = nil }
      (summary.exportedFiles, summary.exportText) = (closing.exported, closing.summary)
      // `matching` is only meant to tell what the page limit left out.
      if case .complete = ending {} else { summary.matching = nil }
      summary.finish(pipeline.statistics, since: started)
      return summary
    }
    if let replacement = pipeline.cacheReplacement, replacement != knownReplacement { console.complain(replacement) }
    var status = await judge(ending, counts)
    if let problem = pipeline.cacheProblem {
      if problem != knownProblem { console.complain("not everything is stored: \(problem)") }
      if status == .success { status = .someFailed }
    }
    for complaint in closing.complaints { console.complain(complaint) }
    if closing.isIncomplete, status == .success { status = .someFailed }
    return report(counts, ending, status)
  }

  private func consume(_ prefetch: QueryPrefetch) async -> Ending {
    do {
      try await interruption.cancelling { [self] in
        for try await event in prefetch { try await take(event) }
        // Otherwise a run would never revalidate what it was allowed to use stale.
        await pipeline.finishRevalidations()
      }
    } catch let error as Console.WriteError {
      return .outputFailed(error)
    } catch let error as ProviderError where error != .cancelled {
      return .sourceFailed(error)
    } catch {
      if let message = Self.fileMessage(error) { return .filesFailed(message: message) }
    }
    return interruption.signal.map { .interrupted(signal: $0) } ?? .complete
  }

  /// Completes the files, unless writing one of them has failed before.
  private func finishFiles(_ ending: inout Ending) async -> PrefetchFiles.Closing {
    if case .filesFailed = ending { return PrefetchFiles.Closing() }
    do {
      return try await files.finish()
    } catch {
      ending = .filesFailed(message: Self.fileMessage(error) ?? "\(error)")
      return PrefetchFiles.Closing()
    }
  }

  /// The message for an error of writing a sheet or an exported file; nil for other errors.
  static func fileMessage(_ error: any Error) -> String? {
    switch error {
    case let error as ReportFile.Failure: error.message(keeping: "what was fetched is kept in the cache")
    case let error as ExportError: "\(error.message); what was fetched is kept in the cache"
    default: nil
    }
  }

  private func take(_ event: QueryPrefetch.Element) async throws {
    switch event {
    case .page(_, let total):
      sayWhatStandsIn()
      if let total, limits.photos == nil { summary.withLock { $0.matching = total } }
      guard showsProgress else { return }
      let perPage = min(limits.perPage, provider.capabilities.largestPageSize ?? .max)
      let most = [total, limits.photos, limits.pages.map { $0 * perPage }].compactMap { $0 }.min()
      progress.update { $0.expected = total == nil && limits.photos == nil ? nil : most }
    case .skipped(let item):
      try take(PictureReport(item), named: words.place(of: item))
      try await files.add(item)
    case .photo(let outcome):
      // A photo cancelled by Ctrl-C counts as neither done nor failed.
      if outcome.firstError == .cancelled { return }
      let added = try await files.add(outcome)
      try take(PictureReport(outcome, paths: added.paths), named: outcome.source.displayName)
      if let failure = added.failure { console.complain(failure.message) }
    }
  }

  /// Reports once that a fallback source or unrelated photos are used.
  private func sayWhatStandsIn() {
    guard let notice = provider.standInNotice,
      hasSaidWhatStandsIn.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
    else { return }
    if !options.quiet { console.complain(notice) }
  }

  private func take(
    _ report: PictureReport, named name: @autoclosure () -> String
  ) throws(Console.WriteError) {
    summary.withLock { $0.add(report) }
    if options.json {
      try console.printSoon(report.json)
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
  private func judge(_ ending: Ending, _ counts: RunSummary) async -> ExitCode {
    switch ending {
    case .complete:
      if counts.pictures == 0 { console.complain(await words.nothingFound()) }
      return counts.failed > 0 ? .someFailed : .success
    case .sourceFailed(let error):
      console.complain(error.shownMessage(offline: pipeline.configuration.cacheMode == .offline))
      return counts.pictures == 0 ? error.exitCode : .someFailed
    case .interrupted(let signal):
      if !options.quiet { console.complain("stopped; what is done is kept, and the same command does the rest") }
      return .stopped(by: signal)
    case .outputFailed(let error):
      return console.cannotPrint(error, "what was fetched is kept in the cache")
    case .filesFailed(let message):
      console.complain(message)
      return .cannotWrite
    }
  }

  private func report(_ counts: RunSummary, _ ending: Ending, _ status: ExitCode) -> ExitCode {
    switch ending {
    case .outputFailed: return status
    // The error is printed already; counts of zero add nothing.
    case .sourceFailed where counts.pictures == 0 && !options.json: return status
    case .complete where counts.pictures == 0 && !options.json: return status
    default: break
    }
    do {
      if options.json {
        try console.print(counts.json)
      } else if !options.quiet {
        try console.print(counts.text)
      }
      return status
    } catch {
      return console.cannotPrint(error, "what was fetched is kept in the cache")
    }
  }
}

extension ProviderError {
  /// The message with short paths.
  var shownMessage: String { PlainText.withShortPaths(" " + message).trimmingCharacters(in: .whitespaces) }

  /// The message; with `--offline`, what to do about a source that may not be contacted.
  func shownMessage(offline: Bool) -> String {
    guard offline, case .unreachable(let name, _) = self else { return shownMessage }
    return
      "\(name) is not asked with --offline, and nothing is stored of it; give a folder (--provider folder:PATH) or "
      + "a list (--urls), or leave --offline out"
  }

  /// The exit status of a run that fetched nothing because of this error.
  var exitCode: ExitCode {
    switch self {
    case .keyMissing, .keyUnusable, .unknownProvider, .invalidAddress, .unsupported, .badRequest:
      .validationFailure
    default: .sourceUnavailable
    }
  }
}
