import ArgumentParser
import Foundation
import Thumbnailer

/// The command `thumbs`: parses, calls the library, prints.
@main
struct Thumbs: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbs",
    abstract: "Makes thumbnails of pictures from the web and from folders, ahead of time and in bounded memory.",
    discussion: """
      Examples:
        thumbs prefetch --query lake --provider folder:Pictures
        thumbs prefetch --urls list.txt --size 200x200 --size 400x400
        thumbs get https://example.org/photo.jpg --size 400x300 --output photo-small.jpg
        thumbs cache stats

      Exit status: 0 all done, 1 some pictures failed, 64 wrong usage, 69 the source could not be reached,
      73 the output cannot be written, 130 stopped by Ctrl-C.
      """,
    version: ThumbnailPipeline.version,
    subcommands: [PrefetchCommand.self, GetCommand.self, CacheCommand.self])

  static func main() async {
    ProcessSetup.apply()
    await main(nil)
  }
}
