import ArgumentParser
import Foundation
import ThumbnailWorker
import ThumbnailCore
import Thumbnailer

/// One run of `thumbs worker`.
struct WorkerRun {
  private let command: WorkerCommand
  private let console = Console.standard
  private let log: VerboseLog?

  /// What a message about a failure ends with.
  private static let kept = "what was answered is kept"

  init(_ command: WorkerCommand, _ log: VerboseLog?) { (self.command, self.log) = (command, log) }

  /// Responds to all lines, and returns the exit status.
  func run() async throws -> ExitCode {
    let started = ContinuousClock.now
    let pipeline = try ThumbnailPipeline(command.pipelineConfiguration())
    log?.follow(pipeline)
    let notices = CacheNotices(pipeline, isQuiet: command.quiet)
    let options = try command.workerOptions()
    let worker: ThumbnailWorker
    do throws(WorkerError) {
      worker = try ThumbnailWorker(pipeline, options, reading: STDIN_FILENO, writing: STDOUT_FILENO)
    } catch {
      throw CommandFailure(
        .cannotWrite, "\(error.path) cannot be written: \(error.reason); make room there, or choose another folder")
    }
    let interruption = Interruption()
    let (ending, summary) = try await interruption.cancelling {
      let result = await worker.run()
      await pipeline.finishRevalidations()
      return result
    }
    await pipeline.flush()
    notices.reportReplacement()
    notices.reportProblem()
    // A reader that does not read would hold up the summary, too.
    if command.summary, ending != .readerGone, ending != .readerStalled {
      try console.print(figures(summary, pipeline.statistics, after: .now - started).summaryLine)
    }
    return status(of: ending, summary, interruption.signal)
  }

  /// Prints why the run did not complete, and returns its exit status.
  private func status(
    of ending: ThumbnailWorker.Ending, _ summary: ThumbnailWorker.Summary, _ signal: Int32?
  ) -> ExitCode {
    let failure: CommandFailure
    switch ending {
    case .drained:
      if !command.quiet { console.complain("stopped; what is done is kept, and every line that was read is answered") }
      return signal.map { .stopped(by: $0) } ?? .success
    case .readerStalled:
      if !command.quiet {
        console.complain("stopped; nobody has read the last answers: give the lines again that none came for")
      }
      return signal.map { .stopped(by: $0) } ?? .cannotWrite
    case .tooManyFailures:
      failure = CommandFailure(
        .tooManyFailures,
        "\(summary.failed) of \(summary.lines) lines failed, more than --max-failures allows; \(Self.kept)")
    case .inputUnreadable(let reason):
      failure = CommandFailure(
        .sourceUnavailable, "stdin cannot be read: \(reason); give lines on it, as with thumbs worker < FILE")
    case .readerGone: failure = CommandFailure(Console.WriteError.closed)
    case .outputUnwritable(let reason):
      failure = CommandFailure(Console.WriteError.failed(reason: reason), keeping: Self.kept)
    case .complete:
      guard let reason = summary.shardFailure else { return .success }
      failure = CommandFailure(.cannotWrite, "not every shard is there: \(reason); earlier ones are kept")
    }
    return console.report(failure)
  }

  private func figures(
    _ summary: ThumbnailWorker.Summary, _ statistics: PipelineStatistics, after duration: Duration
  ) -> JSONObject {
    [
      "lines": summary.lines, "ok": summary.succeeded, "failed": summary.failed, "skipped": summary.skipped,
      "shards": summary.shards, "downloadedBytes": statistics.downloadedBytes,
      "seconds": duration.seconds.rounded(toPlaces: 3), "peakMemoryBytes": ProcessMemory.peak,
    ]
  }
}
