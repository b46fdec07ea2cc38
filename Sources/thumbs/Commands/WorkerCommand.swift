import ArgumentParser
import Foundation
import ThumbnailWorker
import ThumbnailCore
import Thumbnailer

/// `thumbs worker`: responds to lines that name pictures, for engines that distribute work.
struct WorkerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker",
    abstract: "Reads pictures as JSON lines, makes their thumbnails, and answers each line with one.",
    usage: "thumbs worker [--output <DIR> | --tar <DIR> | --inline] [<options>]",
    discussion: """
      Examples:
        thumbs worker --tar shards --size 256 < pictures.jsonl
        thumbs worker --inline --no-paths --public-addresses-only < strangers.jsonl
        echo '{"id": 7, "url": "https://example.org/a.jpg", "sizes": [64, 256]}' |
          thumbs worker --output small

      A line is a URL, or an object with url, path or base64. Each is answered with
      one line as soon as its result is known. Without --output, --tar and --inline
      the thumbnails are only cached.

      Exit status: 0 all lines were answered, whatever the answers; 3 more failed
      than --max-failures allows; 69 stdin cannot be read; 73 an output cannot be
      written.

      thumbs worker --help-hidden lists all options, docs/worker.md the protocol.
      """)

  @OptionGroup(title: "Output") var output: WorkerOutputOptions
  @OptionGroup(title: "Lines") var lines: WorkerLineOptions
  @OptionGroup(title: "Thumbnails") var thumbnails: ThumbnailOptions
  @OptionGroup(title: "Thumbnails") var kept: GravityOption
  @OptionGroup(title: "Resources", visibility: .hidden) var resources: PipelineOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var memory: MemoryOption
  @OptionGroup(title: "Resources", visibility: .hidden) var limit: DownloadLimitOption
  @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkOptions
  @OptionGroup(title: "Network", visibility: .hidden) var pauses: PauseOptions
  @OptionGroup(title: "Isolation", visibility: .hidden) var isolation: IsolationOptions

  @OptionGroup var verbosity: VerboseOption

  func run() async throws {
    try await VerboseLog.following(verbosity.verbose, work)
  }

  /// The pipeline's configuration.
  func pipelineConfiguration() throws -> ThumbnailPipeline.Configuration {
    var configuration = try ThumbnailPipeline.Configuration(resources, memory, limit, network, pauses, isolation)
    // Most images occur once, so a larger memory cache would be useless.
    configuration.memoryCacheLimit = .mebibytes(4)
    // Strangers' lists must not be read with the user's keys.
    if !configuration.addresses.isGuarded { configuration.objectStorage = SecretVariables.objectStorage }
    configuration.disallowedDirectives = lines.disallowedDirectives
    if let timeout = lines.timeout {
      (configuration.connectTimeout, configuration.stallTimeout) = (.seconds(timeout), .seconds(timeout))
    }
    return configuration
  }

  /// The worker's options.
  private func workerOptions() throws -> ThumbnailWorker.Options {
    var options = ThumbnailWorker.Options(variants: thumbnails.variants(gravity: kept.gravity))
    options.gravity = kept.gravity
    options.headers = try network.hostHeaders()
    options.wording = WorkerWording(
      message: { Advice.withOptions($0).withoutSecrets() }, address: { $0.withoutLogins })
    output.apply(to: &options)
    lines.apply(to: &options)
    return options
  }

  /// The end of a message about a failure.
  private static let kept = "what was answered is kept"

  /// Responds to all lines, and returns the exit status.
  private func work(_ log: VerboseLog?) async throws -> ExitCode {
    let pipeline = try ThumbnailPipeline(pipelineConfiguration())
    log?.follow(pipeline)
    let notices = CacheNotices(pipeline, isQuiet: false)
    let options = try workerOptions()
    let worker: ThumbnailWorker
    do throws(FileWriteError) {
      worker = try ThumbnailWorker(
        pipeline, options, reading: Console.standard.input, writing: Console.standard.output)
    } catch {
      throw CommandFailure(error, choose: "another folder")
    }
    let interruption = Interruption()
    let (ending, counts) = try await interruption.cancelling {
      let result = await worker.run()
      await pipeline.finishRevalidations()
      return result
    }
    await pipeline.flush()
    notices.reportReplacement()
    notices.reportProblem()
    return status(of: ending, counts, interruption.signal)
  }

  /// Prints why the run did not complete, and returns its exit status.
  private func status(
    of ending: ThumbnailWorker.Ending, _ summary: ThumbnailWorker.Summary, _ signal: Int32?
  ) -> ExitCode {
    let console = Console.standard
    let failure: CommandFailure
    switch ending {
    case .drained:
      console.complain("stopped; what is done is kept, and every line that was read is answered")
      return signal.map { .stopped(by: $0) } ?? .success
    case .readerStalled:
      console.complain("stopped; the last answers were not read: send the lines without an answer again")
      return signal.map { .stopped(by: $0) } ?? .cannotWrite
    case .tooManyFailures:
      failure = CommandFailure(
        .tooManyFailures,
        "\(summary.failed) of \(summary.lines) lines failed, more than --max-failures allows; \(Self.kept)")
    case .inputUnreadable(let reason):
      failure = CommandFailure(
        .sourceUnavailable, "stdin cannot be read: \(reason); give lines on it, as with thumbs worker < FILE")
    case .outputUnwritable(let error): failure = CommandFailure(error, keeping: Self.kept)
    case .complete:
      guard let reason = summary.shardFailure else { return .success }
      failure = CommandFailure(
        .cannotWrite, "not every shard is there: \(Advice.withOptions(reason)); earlier ones are kept")
    }
    return console.report(failure)
  }
}
