import ArgumentParser
import Exports
import Thumbnailer

/// `thumbs cache export`.
struct CacheExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Copies thumbnails from the disk cache into files.",
    usage: "thumbs cache export <DIR> [<URL|QUERY> ...] [<options>]",
    discussion: """
      Examples:
        thumbs cache export thumbnails
        thumbs cache export thumbnails lake --name '{name}-{width}.{ext}'
        thumbs cache export thumbnails https://example.org/a.jpg --overwrite

      A URL or the path of a file exports the thumbnails of that picture; words
      those of the pictures whose addresses contain them all. {path} is the host
      with the folders of the URL, or the folder that a file lies in. Where two
      thumbnails would have one name, the second gets a mark of its own. Files that
      are there already are left, unless --overwrite is given.

      --json prints an object a line: location, path, status (written, unchanged,
      kept or failed), width, height, format, bytes; and a summary as the last. kept
      is a file that was there with other content.
      """)

  @Argument(help: ArgumentHelp("The folder for the files.", valueName: "DIR"))
  var folder: String

  @OptionGroup var pictures: CacheSelectionArgument

  @Option(
    "TEMPLATE",
    "The files' names, of {path}, {name}, {ext}, {oldext}, {size} as it was asked for, {width}, {height} and {hash}. "
      + "(default: {path}/{name}-{size}.{ext})")
  var name: NamingTemplate?

  @Flag(help: "Replace files that are there.") var overwrite = false

  @OptionGroup var cache: CacheOptions
  @Flag(help: "Print one JSON object a line.") var json = false

  func validate() throws {
    if folder.isEmpty { throw ValidationError("the folder's name is empty: name a folder") }
    if name?.usesDate == true { throw ValidationError("the cache knows no dates: leave {date} out of --name") }
  }

  func run() async throws {
    let run = CacheExportRun(selection: try pictures.selection(), disk: try cache.open(), printsJSON: json)
    try await run.run(into: folder, name: name, overwriting: overwrite).end()
  }
}
