import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs cache remove`.
struct CacheRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes the thumbnails of single pictures from the disk cache.",
    discussion: """
      Examples:
        thumbs cache remove https://example.org/a.jpg
        thumbs cache remove photos/a.jpg photos/b.jpg

      All sizes of a picture leave; the next request fetches it again. Pictures that
      were fetched with --header or a login of their own leave with the same options.
      A server that runs has thumbnails in its memory, too: send it
      DELETE /cache?url=… as well.
      """)

  @Argument(help: ArgumentHelp("The pictures: URLs, or paths of files.", valueName: "URL|PATH"))
  var pictures: [String]

  @OptionGroup var cache: CacheOptions
  @OptionGroup(title: "Network") var network: NetworkOptions

  func run() async throws {
    let headers = try network.hostHeaders()
    let sources = try pictures.map { try ImageSource(commandLine: $0).adding(headers) }
    guard let disk = try cache.open() else { return }
    try await disk.change { disk throws(DiskCacheError) in
      for source in sources { try await disk.remove(source.key) }
    }
  }
}
