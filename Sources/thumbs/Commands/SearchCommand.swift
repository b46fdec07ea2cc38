import ArgumentParser
import Exports
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
        thumbs search --query "mountain lake" --pages 2 --html lake.html
        thumbs search --query lake --provider folder:Pictures --json
        thumbs search --query "" --count 10

      Fetches no picture, only the pages of the search, and stores them. When the
      source cannot be reached, or with --offline, the stored pages are listed.
      --query "" lists random photos of unsplash, commons and picsum, and all
      pictures of the other sources in order.

      thumbs search --help-hidden lists all options, docs/reports.md what --json
      prints.
      """)

  @OptionGroup(title: "Source") var source: SourceOptions
  @OptionGroup(title: "Cache", visibility: .hidden) var cache: CacheOptions
  @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkOptions

  @Option("FILE", "Write a page with the pictures.", .naming("a file"))
  var html: String?

  @Flag(help: "Send no requests: list what is stored.")
  var offline = false

  @Flag(help: "Print one JSON object a line for each picture, and the summary as the last.")
  var json = false

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
    options.pageSize = source.perPage
    options.headers = try network.hostHeaders()
    let provider = try source.provider(for: pipeline, isOffline: offline)
    try source.refuse(html, as: "--html", of: provider)
    // A folder is listed in order instead of at random.
    options.picksRandom = !(provider is FolderProvider)
    let content = await list(Gallery(provider: provider, pipeline: pipeline, options: options))
    if let notice = provider.standInNotice, offline || !content.isOffline { Console.standard.complain(notice) }
    let status = complain(about: content)
    try print(content)
    try await write(content, pipeline)
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
    if json {
      if let skipped = SkippedItem.message(of: content.skipped) {
        console.complain("\(content.provider), \(skipped)")
      }
      for item in content.items { try console.printSoon(PhotoLine.json(item.photo, original: source.original).line) }
      try console.print(PhotoLine.summary(content).summaryLine)
    } else if !content.items.isEmpty {
      let sections = StandardGalleryViewModel(hasNotices: false).sections(of: content)
      let text = TextGallery().render(GallerySnapshot(content: content, sections: sections))
      try console.print(text.trimmingCharacters(in: .newlines))
    }
  }

  /// The size of a picture's cell in the page, in device pixels.
  private static let cell = PixelSize(400, 400)

  private static func source(of item: GalleryItem) -> ImageSource { item.photo.source(for: cell, fit: .cover) }

  /// Thumbnails of the pictures that are files: at full size a page of a folder would be as large as the folder.
  private func embeddedImages(
    of content: GalleryContent, _ pipeline: ThumbnailPipeline
  ) async -> [ImageSource: Thumbnail] {
    let requests = content.items.map { Self.source(of: $0) }.filter(\.isUserFile).map {
      ThumbnailRequest($0, variant: Variant(size: Self.cell, fit: .cover), priority: .prefetch)
    }
    var images: [ImageSource: Thumbnail] = [:]
    for await (request, result) in pipeline.thumbnails(for: requests) {
      switch result {
      case .success(let response): images[request.source] = response.thumbnail
      case .failure(let error):
        Console.standard.complain("\(request.source.displayName): \(error.message)")
      }
    }
    return images
  }

  /// Writes the HTML page, if one is requested.
  private func write(_ content: GalleryContent, _ pipeline: ThumbnailPipeline) async throws {
    guard let html else { return }
    let images = await embeddedImages(of: content, pipeline)
    let sections = StandardGalleryViewModel().sections(of: content)
    let gallery = HTMLGallery(
      imageURL: { item in
        let source = Self.source(of: item)
        guard source.isUserFile else {
          // Browsers load no image with a login, and the page may be sent to others.
          var parts = URLComponents(url: source.url, resolvingAgainstBaseURL: true)
          parts?.user = nil
          parts?.password = nil
          return parts?.url
        }
        return images[source].flatMap { URL(string: HTMLPage.dataURL($0.data, type: $0.format.mediaType)) }
      },
      colour: { images[Self.source(of: $0)]?.placeholder?.colour })
    let page = gallery.page(GallerySnapshot(content: content, sections: sections))
    do {
      let file = try ReportFile(path: html)
      try file.write(page)
      try file.finish()
    } catch {
      throw CommandFailure(error, choose: "another --html")
    }
  }
}
