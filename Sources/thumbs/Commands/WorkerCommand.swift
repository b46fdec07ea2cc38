import ArgumentParser
import Foundation
import ThumbnailWorker
import Thumbnailer

/// `thumbs worker`: responds to lines that name pictures, for engines that distribute work.
struct WorkerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker",
    abstract: "Reads pictures as JSON lines, makes their thumbnails, and answers each line with one.",
    discussion: """
      Examples:
        thumbs worker --size 256 < urls.txt
        thumbs worker --tar shards --size 256 --shard-size 1000 < pictures.jsonl
        thumbs worker --inline --no-paths --public-addresses-only < strangers.jsonl
        echo '{"id": 7, "url": "https://example.org/a.jpg", "sizes": [64, 256]}' |
          thumbs worker --output small

      A line is a URL, or an object with url, path or base64 (the picture itself),
      and what else is wanted: id (any value, which comes back as it was), headers,
      sizes, fit, format, quality, key (the name of the files), caption and json
      (for shards).

      Each line is answered with one, in any order, as soon as its result is known:
      line, id, status (ok, failed or skipped), key, url or path, source {width,
      height, format, bytes, downloaded, left}, thumbnails [{size, path, width,
      height, format, bytes, sha256, cacheKey, origin, stored, thumbHash, colour,
      data}], shard, error {stage, code, message, retry, retryAfter}, http {status,
      attempts}, plan, ms, stages {cache, download, revalidate, decode, write}. A
      line that cannot be read is answered with its number. A shard that is done has
      a line {"shard": {…}}.

      Without --output, --tar and --inline the thumbnails are only cached. Tar
      entries stand in the order of the lines, and are the same bytes in every run.
      Two workers may do the same work at once: each file is whole and one of
      theirs.

      stdin is read only as fast as answers are taken from stdout. SIGTERM finishes
      what was begun, for ten seconds at most, and answers the rest of what was read
      as skipped. docs/worker.md has the whole protocol, and a schema of the lines.

      Exit status: 0 all lines were answered, whatever the answers; 3 more failed
      than --max-failures allows; 69 stdin cannot be read; 73 an output cannot be
      written.
      """)

  @OptionGroup(title: "Output") var output: WorkerOutputOptions
  @OptionGroup(title: "Lines") var lines: WorkerLineOptions
  @OptionGroup(title: "Thumbnails") var thumbnails: ThumbnailOptions
  @OptionGroup(title: "Freshness") var freshness: FreshnessOptions
  @OptionGroup(title: "Resources") var resources: PipelineOptions
  @OptionGroup(title: "Network") var network: NetworkOptions
  @OptionGroup(title: "Pauses") var pauses: PauseOptions
  @OptionGroup(title: "Isolation") var isolation: IsolationOptions

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
