import ArgumentParser
import Foundation
import ThumbnailCache
import Thumbnailer

/// `thumbs cache remove`.
struct CacheRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes the thumbnails of pictures from the disk cache.",
    usage: "thumbs cache remove [<URL|PATH> ...] [<options>]",
    discussion: """
      Examples:
        thumbs cache remove https://example.org/a.jpg
        thumbs cache remove photos/a.jpg photos/b.jpg
        thumbs cache remove --host images.example.org
        thumbs cache remove --prefix https://example.org/2019/

      All sizes of a picture leave; the next request fetches it again. Pictures that
      were fetched with --header or a login of their own leave with the same options.
      A server that runs has thumbnails in its memory, too: send it
      DELETE /cache?url=…, ?host=… or ?prefix=… as well.
      """)

  @Argument(help: ArgumentHelp("The pictures: URLs, or paths of files.", valueName: "URL|PATH"), completion: .file())
  var pictures: [String] = []

  @Option("NAME", "All pictures of this host. May be given several times.", .naming("a host's name"))
  var host: [String] = []

  @Option(
    "URL|PATH", "All pictures whose addresses begin like this, without a query. May be given several times.",
    .naming("the beginning of addresses"))
  var prefix: [String] = []

  @OptionGroup var cache: CacheOptions
  @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkOptions
  @OptionGroup(title: "Network", visibility: .hidden) var logins: LoginOption

  func validate() throws {
    if pictures.isEmpty, host.isEmpty, prefix.isEmpty {
      throw ValidationError("nothing to remove: name pictures, a --host or a --prefix; thumbs cache clear removes all")
    }
  }

  func run() async throws {
    let headers = try logins.added(to: network.hostHeaders())
    let sources = try pictures.map { try ImageSource(commandLine: $0).adding(headers) }
    var count = 0
    if let disk = try cache.open() {
      count = try await disk.change { disk throws(DiskCacheError) in
        var count = 0
        for source in sources {
          if disk.mayHold(source) { count += 1 }
          try await disk.remove(source.key)
        }
        for name in host { count += try await disk.remove(.host(name)) }
        for text in prefix { count += try await disk.remove(.prefix(Self.whole(text))) }
        return count
      }
    }
    if count == 0 { Console.standard.complain(CacheSelectionArgument.nothingStored) }
  }

  /// The beginning of an address, or of a path as it is stored, from the root.
  private static func whole(_ prefix: String) -> String {
    if prefix.hasPrefix("/") || prefix.hasPrefix("http") || prefix.contains("://") { return prefix }
    let path = prefix.hasPrefix("./") ? prefix.dropFirst(2) : prefix[...]
    return "\(FileManager.default.currentDirectoryPath)/\(path)"
  }
}

extension DiskCache {
  /// Whether something of an image is stored, or may be: entries that cannot be read are removed as well.
  fileprivate func mayHold(_ source: ImageSource) -> Bool {
    do {
      var stored = try pictures(.picture(source))
      return try stored.next() != nil
    } catch {
      return true
    }
  }
}
