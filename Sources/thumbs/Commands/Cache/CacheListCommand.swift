import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs cache list`.
struct CacheListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the pictures in the disk cache, or the thumbnails of one.",
    usage: "thumbs cache list [<URL|QUERY> ...] [<options>]",
    discussion: """
      Examples:
        thumbs cache list
        thumbs cache list lake --limit 20
        thumbs cache list https://example.org/a.jpg --json

      A URL or the path of a file lists that picture with its thumbnails; words
      list the pictures whose addresses contain them all. Addresses are kept
      without user, password and query.

      --json prints an object a line: location, host, fetchedAt, width, height,
      format, bytes, and thumbnails with what was asked for (box, fit, gravity,
      quality) and what they are (width, height, format, bytes).
      """)

  @OptionGroup var pictures: CacheSelectionArgument
  @OptionGroup var cache: CacheOptions
  @Flag(help: "Print one JSON object a line.") var json = false

  @Option(help: ArgumentHelp("The most pictures to list. (default: all)", valueName: "N"))
  var limit: Int?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit \(limit) cannot be used: give at least 1") }
  }

  func run() async throws {
    let console = Console()
    let selection = try pictures.selection()
    guard let disk = try cache.open(console) else { return }
    var stored = try console.usingCache { () throws(DiskCacheError) in try disk.pictures(selection) }
    var isOnePicture = false
    if case .picture = selection { isOnePicture = true }
    do {
      var count = 0
      while count < limit ?? .max,
        let picture = try console.usingCache({ () throws(DiskCacheError) in try stored.next() })
      {
        if !json, count == 0 { try console.printSoon(StoredPictureLine.heading) }
        let line = StoredPictureLine(picture)
        try console.printSoon(json ? line.json : line.text)
        if !json, isOnePicture { for thumbnail in line.thumbnails { try console.printSoon(thumbnail) } }
        count += 1
      }
      try console.finishPrinting()
    } catch let error as Console.WriteError {
      throw console.cannotPrint(error)
    }
  }
}
