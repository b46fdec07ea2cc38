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
        UNSPLASH_ACCESS_KEY=… thumbs prefetch --query "mountain lake" --pages 5 --size 200x200 --size 800x800
        thumbs prefetch --urls list.txt --json
        producer | thumbs prefetch --urls -

      Runs as a stream: the next pages are asked for while the pictures of this one download, at most --ahead pages
      beyond what is done. What is in the cache already is not downloaded again.
      """)

  @Option(help: ArgumentHelp("What to search for.", valueName: "TEXT"))
  var query: String?

  @Option(
    help: ArgumentHelp(
      "A list of URLs instead of a search: one a line, or JSON lines with a url field; - reads stdin.",
      valueName: "FILE|-"))
  var urls: String?

  @Option(
    help: ArgumentHelp(
      "Where to search: folder:PATH, unsplash (its key in UNSPLASH_ACCESS_KEY), or auto.", valueName: "NAME"))
  var provider = "auto"

  @Option(help: ArgumentHelp("Another base URL of the provider's API.", valueName: "BASE"))
  var providerURL: String?

  @Option(help: ArgumentHelp("The most pages to fetch.", valueName: "N"))
  var pages: Int?

  @Option(help: ArgumentHelp("Pictures a page.", valueName: "N"))
  var perPage = 30

  @Option(help: ArgumentHelp("The most pictures to fetch, whatever the number of pages.", valueName: "N"))
  var count: Int?

  @Option(help: ArgumentHelp("How many pages may be asked for beyond those that are done.", valueName: "N"))
  var ahead = 2

  @OptionGroup(title: "Thumbnails") var thumbnails: ThumbnailOptions
  @OptionGroup(title: "Resources") var pipeline: PipelineOptions
  @OptionGroup(title: "Report") var report: ReportOptions

  func validate() throws {
    if (query == nil) == (urls == nil) {
      throw ValidationError("Give either --query TEXT or --urls FILE|-.")
    }
    for (name, value) in [("pages", pages), ("per-page", perPage), ("count", count), ("ahead", ahead)] {
      if let value, value < 1 { throw ValidationError("--\(name) \(value) cannot be used: give at least 1.") }
    }
    if perPage > 1000 { throw ValidationError("--per-page \(perPage) cannot be used: give at most 1000.") }
    if urls != nil, provider != "auto" || providerURL != nil {
      throw ValidationError("--provider and --provider-url go with --query, not with --urls.")
    }
  }

  func run() async throws {
    Logs.start(verbose: report.verbose)
    let console = Console()
    let limits = QueryPrefetch.Limits(pages: pageLimit, perPage: perPage, photos: count, ahead: ahead)
    let status: ExitCode
    do {
      let pipeline = try ThumbnailPipeline(self.pipeline.configuration)
      let provider = try provider(for: pipeline)
      let prefetch = QueryPrefetch(
        provider: provider, query: query ?? "", pipeline: pipeline, variants: thumbnails.variants, limits: limits)
      let run = PrefetchRun(
        title: title, console: console, provider: provider, pipeline: pipeline, options: report, limits: limits)
      status = await run.run(prefetch)
    } catch let error as ProviderError {
      console.complain(error.message)
      throw error.exitCode
    } catch let error as ThumbnailError {
      console.complain(error.message)
      throw ExitCode.validationFailure
    }
    if status != .success { throw status }
  }

  private func provider(for pipeline: ThumbnailPipeline) throws(ProviderError) -> any PhotoProvider {
    if let urls { return urls == "-" ? URLListProvider.standardInput() : URLListProvider(path: urls) }
    return try ProviderSpecification(parsing: provider).provider(for: pipeline, baseURL: providerURL)
  }

  /// What the progress line begins with.
  private var title: String {
    if let query, !query.isEmpty { return query }
    return urls == "-" ? "stdin" : urls ?? provider
  }

  /// Three pages of a search; of a list, all of it.
  private var pageLimit: Int? { pages ?? (urls == nil && count == nil ? 3 : nil) }
}
