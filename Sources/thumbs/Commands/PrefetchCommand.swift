import ArgumentParser
import Exports
import Foundation
import PhotoSources
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
        thumbs prefetch --query fjord --provider commons \\
          --user-agent 'fjords/1 (me@example.org)'
        thumbs prefetch --urls list.txt --json
        producer | thumbs prefetch --urls -
        thumbs prefetch --query lake --provider folder:Pictures --sheet lakes.html
        thumbs prefetch --urls list.txt --export small --name '{name}-{size}.{ext}'

      Runs as a stream: the next pages are asked for while the pictures of this
      one download, as long as no more than --ahead pages of pictures are open.
      Sizes are written like 256MiB. A picture whose server falls silent holds
      back nothing else: its place goes to the next, and it is tried again after
      the others.

      Services make each picture in several sizes: the smallest that is large
      enough is fetched, and all of them are one picture to the cache. Their
      limits are kept: Wikimedia Commons is asked for one page and two pictures at
      a time, and takes more requests if --user-agent names a contact; Openverse
      gives 20 pictures every 3 seconds, and 240 for one query. The summary names
      the service that answered. Keys go to their service only.

      What is in the cache is not downloaded again. What is older than its server
      allows, or than a week where it says nothing, is asked about first: what has
      not changed is not sent again. A server that cannot be asked leaves what is
      stored good, unless it forbids that. Pictures that do not exist or are none
      are not asked for again for an hour, those too large for a day.

      The pages of a search are stored, with whom to thank for each picture. With
      --offline they come from there; for a search that is not stored, all
      pictures of stored searches that have thumbnails are taken. Folders and
      lists are read as they are.

      --sheet and --export grow as pictures finish; after Ctrl-C they hold what is
      done. A contact sheet .html is one file with the thumbnails in it. Exported
      files are named after folders and files, the addresses in a list, or the ids
      of a photo service, made fit for file names. Files that are there already
      are left, unless --overwrite; two pictures of one name get files of their
      own. Sheets link to the page of a picture or, without the query of its
      address, to the picture: queries may hold keys.

      A picture that fails is tried again after all others. If several pictures of
      a host fail and none arrives meanwhile, or three in a row are asked for a
      pause (429, 503), the host is held: one picture at a time tries it, and its
      others wait. When it has made no progress for --max-wait, what is left of it
      fails with rate-limited or host-closed. Other hosts are not affected.

      Unsplash is told which of its photos were exported, as its terms ask.

      A list that a stranger has written may name pictures on this machine and in
      its networks: --public-addresses-only fetches none of them. They fail with
      address-refused. A proxy has to be named with --proxy then, or be none, since
      it connects in our place.

      --json prints for each picture: id, url, status (stored, made, memory, disk,
      revalidated, stale or failed), error {code, message}, source {width, height,
      bytes, downloaded, left}, plan (how it was decoded, if it was), thumbnails
      [{path, width, height, format, bytes, thumbHash, colour}], ms, credit {text, author, authorUrl, licence, licenceUrl, page}: whom to name
      when the picture is shown, as far as the service tells. path is the file that
      --export wrote or found; thumbHash (in Base64) and colour are what a page can
      show before the thumbnail. The last line holds the summary, with exportedFiles
      after --export. error stands there only for
      a failure, source only if it is known. made is what was made and not stored,
      since its server forbids that or the disk cache cannot be written,
      revalidated what its server has confirmed, stale what is out of date while
      its server cannot be asked, or lets it be used while it is asked, which is
      done before the run ends. A local file counts as downloaded with its whole
      length; left are the bytes of a picture that were not downloaded since no
      thumbnail needed them.
      """)

  @OptionGroup(title: "Source") var source: SourceOptions
  @OptionGroup(title: "Thumbnails") var thumbnails: ThumbnailOptions
  @OptionGroup(title: "Freshness") var freshness: FreshnessOptions
  @OptionGroup(title: "Resources") var resources: PipelineOptions
  @OptionGroup(title: "Network") var network: NetworkOptions
  @OptionGroup(title: "Pauses") var pauses: PauseOptions
  @OptionGroup(title: "Isolation") var isolation: IsolationOptions
  @OptionGroup(title: "Look") var look: ExportOptions
  @OptionGroup(title: "Report") var report: ReportOptions

  func run() async throws {
    try await VerboseLog.following(report.verbose, prefetch)
  }

  func validate() throws {
    if look.name?.usesDate == true, source.urls == nil, !source.provider.hasPrefix("folder:") {
      throw ValidationError("{date} names pictures that are files, not those of photo services: leave it out of --name")
    }
  }

  /// Throws if a sheet or an export would overwrite the source itself.
  private func refuseToOverwrite(_ provider: any PhotoProvider) throws {
    if let list = source.urls, let sheet = look.sheet.sheet, OutputFile.isSameFile(list, sheet) {
      throw CommandFailure(.cannotWrite, "\(sheet) is the list itself, which would be lost; choose another --sheet")
    }
    if let folder = provider as? FolderProvider, let export = look.export, OutputFile.isSamePath(folder.path, export) {
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
      var configuration = try ThumbnailPipeline.Configuration(resources, freshness, network, isolation)
      // Thumbnails are not requested again, so a larger memory cache would be of no use.
      if resources.memoryCache == nil { configuration.memoryCacheLimit = .mebibytes(4) }
      pauses.apply(to: &configuration)
      let pipeline = try ThumbnailPipeline(configuration)
      log?.follow(pipeline)
      let headers = try network.hostHeaders()
      let provider = try provider(for: pipeline)
      let pages = provider.storingPages(in: pipeline.pageStore, headers: headers)
      let prefetch = QueryPrefetch(
        provider: pages, query: source.query ?? "", pipeline: pipeline, variants: thumbnails.variants,
        limits: source.limits, headers: headers, original: source.original)
      try refuseToOverwrite(provider)
      let files = try PrefetchFiles(
        look, title: source.title, variants: thumbnails.variants, provider: provider,
        isolation: isolation.isolation)
      let run = PrefetchRun(source: source, provider: provider, pipeline: pipeline, options: report, files: files)
      return await run.run(prefetch)
    } catch let error as ProviderError {
      throw CommandFailure(error, isOffline: freshness.offline)
    } catch let error as ReportFile.Failure {
      throw CommandFailure(error, choose: "another --sheet")
    } catch let error as ExportError {
      throw CommandFailure(
        .cannotWrite,
        "\(error.path) cannot be exported to: \(error.reason); name another folder with --export")
    }
  }
}
