import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs prefetch`: fills the caches with the thumbnails of a photo search or a list.
struct PrefetchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefetch",
    abstract: "Fills the cache with the thumbnails of a photo search, a folder or a list of URLs.",
    discussion: """
      Examples:
        thumbs prefetch --query lake --provider folder:Pictures
        thumbs prefetch --query "" --provider folder:Pictures --pages 1000
        thumbs prefetch --query "mountain lake" --size 200x200 --size 800x800
        thumbs prefetch --urls list.txt --json
        producer | thumbs prefetch --urls -

      Runs as a stream: the next pages are asked for while the pictures of this
      one download, at most --ahead pages beyond what is done. What is in the
      cache already is not downloaded again. Sizes are written like 256MiB.

      --json prints for each picture: id, url, status (stored, memory, disk or
      failed), error {code, message}, source {width, height, bytes, downloaded,
      left}, thumbnails [{width, height, format, bytes}], ms. The last line holds
      the summary. error stands there only for a failure, source only if it is
      known. A local file counts as downloaded with its whole length; left are the
      bytes of a picture that were not downloaded since no thumbnail needed them.
      """)

  @OptionGroup(title: "Source") var source: SourceOptions
  @OptionGroup(title: "Thumbnails") var thumbnails: ThumbnailOptions
  @OptionGroup(title: "Resources") var resources: PipelineOptions
  @OptionGroup(title: "Network") var network: NetworkOptions
  @OptionGroup(title: "Isolation") var isolation: IsolationOptions
  @OptionGroup(title: "Report") var report: ReportOptions

  func run() async throws {
    let console = Console()
    Logs.start(verbose: report.verbose, console: console)
    let stages = report.verbose ? StageLog(console: console) : nil
    let status = try await prefetch(console, stages)
    await stages?.finish()
    if status != .success { throw status }
  }

  private func prefetch(_ console: Console, _ stages: StageLog?) async throws -> ExitCode {
    do {
      let pipeline = try ThumbnailPipeline(isolation.applied(to: network.applied(to: resources.configuration)))
      stages?.follow(pipeline)
      let headers = try network.hostHeaders()
      let provider = try source.provider(for: pipeline).storingPages(in: pipeline.pageStore, headers: headers)
      let prefetch = QueryPrefetch(
        provider: provider, query: source.query ?? "", pipeline: pipeline, variants: thumbnails.variants,
        limits: source.limits, headers: headers)
      let run = PrefetchRun(
        source: source, console: console, provider: provider, pipeline: pipeline, options: report)
      return await run.run(prefetch)
    } catch let error as ProviderError {
      console.complain(error.shownMessage)
      return error.exitCode
    } catch let error as ThumbnailError {
      console.complain(error.message)
      return .validationFailure
    }
  }
}
