import ArgumentParser
import Foundation
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// `thumbs search`: lists the photos of a search in the terminal.
struct SearchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Lists the pictures of a photo search or a folder, and their credits.",
    usage: "thumbs search (--query <TEXT> | --urls <FILE>) [<options>]",
    discussion: """
      Examples:
        thumbs search --query "mountain lake"
        thumbs search --query lake --provider folder:Pictures --json
        thumbs search --query "" --count 10

      Fetches no picture, only the pages of the search, and stores them. When the
      source cannot be reached, or with --offline, the stored pages are listed.
      --query "" lists random photos of unsplash and commons, and all
      pictures of the other sources in order.

      thumbs search --help-hidden lists all options, docs/reports.md what --json
      prints.
      """)

  @OptionGroup(title: "Source") var source: SourceOptions
  @OptionGroup(title: "Cache", visibility: .hidden) var cache: CacheOptions
  @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkOptions
  @OptionGroup(title: "Network", visibility: .hidden) var logins: LoginOption

  @OptionGroup var supply: OfflineOption
  @OptionGroup var form: JSONOption

  private var offline: Bool { supply.offline }

  func run() async throws {
    VerboseLog.start(false)
    do {
      try await search().end()
    } catch let error as ProviderError {
      throw CommandFailure(error, isOffline: offline)
    }
  }

  private func search() async throws -> ExitCode {
    var configuration = try ThumbnailPipeline.Configuration(cache, network)
    if offline { configuration.cacheMode = .offline }
    let pipeline = try ThumbnailPipeline(configuration)
    _ = CacheNotices(pipeline, isQuiet: false)
    var options = Gallery.Options()
    options.headers = try logins.added(to: network.hostHeaders())
    let provider = try source.provider(for: pipeline, isOffline: offline)
    // A folder is listed in order instead of at random.
    options.picksRandom = !(provider is FolderProvider)
    let content = await list(Gallery(provider: provider, pipeline: pipeline, options: options))
    if let notice = provider.standInNotice, offline || !content.isOffline { Console.standard.complain(notice) }
    let status = complain(about: content)
    try print(content)
    return status
  }

  /// Loads pages until there are enough photos or no more. Later rounds of repeated photos are left out.
  private func list(_ gallery: Gallery) async -> GalleryContent {
    await gallery.search(source.query ?? "")
    for await snapshot in gallery.snapshots {
      let content = snapshot.content
      if content.state.isLoading { continue }
      let isEnough =
        content.pages >= source.limits.pages ?? .max || content.items.count >= source.limits.photos ?? .max
        || content.items.last?.round ?? 0 > 0
      let goesOn =
        switch content.state {
        case .loaded, .offline: content.hasMore && !isEnough
        case .idle, .loading, .loadingNextPage, .empty, .failed: false
        }
      guard goesOn, await gallery.loadNextPage() else { break }
    }
    var content = gallery.snapshot.content
    content.items = Array(content.items.lazy.filter { $0.round == 0 }.prefix(source.limits.photos ?? .max))
    return content
  }

  /// Prints the problem with the content, and returns the exit status.
  private func complain(about content: GalleryContent) -> ExitCode {
    let console = Console.standard
    switch content.state {
    case .failed(let error):
      let status = console.report(CommandFailure(error, isOffline: offline))
      return content.items.isEmpty ? status : .someFailed
    case .empty(let message): console.complain(message)
    case .offline(let error):
      console.complain("\(error.shownMessage); these are the pictures that are stored")
    case .loaded where content.isOffline:
      console.complain("\(content.provider) is not asked with --offline; these are the pictures that are stored")
    case .idle, .loading, .loaded, .loadingNextPage: break
    }
    return .success
  }

  /// Prints the photos.
  private func print(_ content: GalleryContent) throws {
    let console = Console.standard
    if form.json {
      if let skipped = SkippedItem.message(of: content.skipped) {
        console.complain("\(content.provider), \(skipped)")
      }
      for item in content.items { try console.printSoon(PhotoLine.json(item.photo).line) }
      try console.print(PhotoLine.summary(content).summaryLine)
    } else if !content.items.isEmpty {
      try console.print(PhotoList(content).text)
    }
  }
}
