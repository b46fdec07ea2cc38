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
  @OptionGroup(title: "Freshness", visibility: .hidden) var freshness: FreshnessOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var resources: PipelineOptions
  @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkOptions
  @OptionGroup(title: "Pauses", visibility: .hidden) var pauses: PauseOptions
  @OptionGroup(title: "Isolation", visibility: .hidden) var isolation: IsolationOptions

  @Flag(help: "Print a summary as the last line: {\"summary\": {…}}.")
  var summary = false

  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Log what happens at each stage, on stderr, without the queries of URLs.")
  var verbose = false

  func run() async throws {
    try await VerboseLog.following(verbose) { log in try await WorkerRun(self, log).run() }
  }

  /// The pipeline's configuration.
  func pipelineConfiguration() throws -> ThumbnailPipeline.Configuration {
    var configuration = try ThumbnailPipeline.Configuration(resources, freshness, network, isolation)
    // Most lines come once, so a larger memory cache would be of no use.
    if resources.memoryCache == nil { configuration.memoryCacheLimit = .mebibytes(4) }
    pauses.apply(to: &configuration)
    return configuration
  }

  /// The worker's options.
  func workerOptions() throws -> ThumbnailWorker.Options {
    var options = ThumbnailWorker.Options(variants: thumbnails.variants)
    options.gravity = thumbnails.gravity
    options.headers = try network.hostHeaders()
    options.wording = WorkerWording(
      message: { PlainText.withoutPasswords(Advice.withOptions($0)) }, address: { PlainText.withoutPasswords($0) })
    output.apply(to: &options)
    lines.apply(to: &options)
    return options
  }
}
