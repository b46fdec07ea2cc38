import ArgumentParser
import Exports
import Foundation
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// `thumbs prefetch`: fills the caches with the thumbnails of a photo search or a list.
struct PrefetchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefetch",
    abstract: "Fills the cache with the thumbnails of a photo search, a folder or a list of URLs.",
    discussion: """
      Examples:
        thumbs prefetch --query lake --provider folder:Pictures
        thumbs prefetch --query fjord --provider commons \\
          --header '*=User-Agent: fjords/1 (me@example.org)'
        thumbs prefetch --urls list.txt --json
        thumbs prefetch --query lake --provider folder:Pictures --sheet lakes.html
        thumbs prefetch --urls list.txt --export small --name '{name}-{size}.{ext}'

      Cached pictures are not downloaded again; stale ones are revalidated. A picture
      that fails is retried after all others. After Ctrl-C all finished work is kept.

      thumbs prefetch --help-hidden lists all options: the cache (--cache-dir),
      limits, network, helpers.
      docs/using.md explains them, docs/reports.md what --json prints.
      """)

  @OptionGroup(title: "Source") var source: SourceOptions
  @OptionGroup(title: "Thumbnails") var thumbnails: ThumbnailOptions
  @OptionGroup(title: "Freshness") var freshness: FreshnessOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var resources: PipelineOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var memory: MemoryOption
  @OptionGroup(title: "Resources", visibility: .hidden) var limit: DownloadLimitOption
  @OptionGroup(title: "Resources", visibility: .hidden) var formats: UnsafeFormatsOption
  @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkOptions
  @OptionGroup(title: "Network", visibility: .hidden) var pauses: PauseOptions
  @OptionGroup(title: "Look") var look: ExportOptions
  @OptionGroup(title: "Report") var report: ReportOptions

  func run() async throws {
    try await VerboseLog.following(report.verbose, prefetch)
  }

  func validate() throws {
    try look.name?.check(thumbnails.format)
    if look.name?.usesDate == true, source.urls == nil, source.provider?.hasPrefix("folder:") != true {
      throw ValidationError("{date} names pictures that are files, not those of photo services: leave it out of --name")
    }
  }

  /// Throws if a sheet or an export would overwrite the source itself.
  private func refuseToOverwrite(_ provider: any PhotoProvider) throws {
    if let sheet = look.sheet, let list = source.urls, OutputFile.isSameFile(RawPath(list), sheet) {
      throw CommandFailure(.cannotWrite, "\(sheet) is the list itself, which would be lost; choose another --sheet")
    }
    guard let folder = provider as? FolderProvider, let export = look.export else { return }
    if OutputFile.isSameFolder(folder.path, export) {
      throw CommandFailure(
        .cannotWrite,
        "\(export) is the folder of the pictures themselves, which could be lost; choose another --export")
    }
  }

  /// The provider, or with `--offline` its stored pages.
  private func provider(for pipeline: ThumbnailPipeline) throws(ProviderError) -> any PhotoProvider {
    do throws(ProviderError) {
      return try source.provider(for: pipeline, isOffline: freshness.offline)
    } catch {
      // Explains why there is no store, since the run that would report it does not start.
      if case .unreachable = error, let problem = pipeline.cacheProblem { Console.standard.complain("\(problem)") }
      throw error
    }
  }

  private func prefetch(_ log: VerboseLog?) async throws -> ExitCode {
    do {
      var configuration = try ThumbnailPipeline.Configuration(
        resources, memory, limit, freshness, formats, network, pauses)
      // Thumbnails are not requested again, so a larger memory cache would be of no use.
      configuration.memoryCacheLimit = .mebibytes(4)
      let pipeline = try ThumbnailPipeline(configuration)
      log?.follow(pipeline)
      let headers = try network.hostHeaders()
      let provider = try provider(for: pipeline)
      let pages = provider.storingPages(in: pipeline.pageStore, headers: headers)
      let prefetch = QueryPrefetch(
        provider: pages, query: source.query ?? "", pipeline: pipeline, variants: thumbnails.variants(),
        limits: source.limits, headers: headers)
      try refuseToOverwrite(provider)
      return try await PrefetchRun(self, provider: provider, pipeline: pipeline).run(prefetch)
    } catch let error as ProviderError {
      throw CommandFailure(error, isOffline: freshness.offline)
    } catch let error as FileWriteError {
      throw CommandFailure(error, choose: error.path == look.export ? "another --export" : "another --sheet")
    }
  }
}
