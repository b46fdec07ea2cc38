import ArgumentParser
import Exports
import Foundation
import Thumbnailer

/// The amount and the form of the output.
struct ReportOptions: ParsableArguments {
  @Flag(help: "Print one JSON object a line for each picture, and the summary as the last.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  @Flag(help: ArgumentHelp("Draw no progress line.", visibility: .hidden))
  var noProgress = false

  @Flag(
    name: .shortAndLong,
    help: ArgumentHelp("Log what happens at each stage, on stderr, without the queries of URLs.", visibility: .hidden))
  var verbose = false

  /// Whether to show the progress line: stderr is a terminal, and nothing else is written there continuously.
  var showsProgress: Bool { !quiet && !noProgress && !verbose && isatty(STDERR_FILENO) == 1 }
}

/// A contact sheet of the thumbnails.
struct SheetOptions: ParsableArguments {
  @Option("FILE", "Write a contact sheet: a page in one file.", .naming("a file, .html"))
  var sheet: String?

  func validate() throws {
    if let sheet, !SheetFile.isPage(sheet) {
      throw ValidationError("--sheet \(sheet) cannot be written: contact sheets are pages; name it .html")
    }
  }
}

/// Files written in addition to the cache, for people to look at.
struct ExportOptions: ParsableArguments {
  @OptionGroup var sheet: SheetOptions

  @Option("DIR", "Write the thumbnails as files, too, into this folder.", .naming("a folder"))
  var export: String?

  @Option("TEMPLATE", NamingTemplate.help) var name: NamingTemplate?

  @Flag(help: "Replace files that --export finds there.")
  var overwrite = false

  func validate() throws {
    if export == nil, name != nil { throw ValidationError("--name names exported files: give --export DIR, too") }
    if export == nil, overwrite { throw ValidationError("--overwrite is about exported files: give --export DIR, too") }
  }
}

extension NamingTemplate {
  /// Throws if its names end like those of another format than is written.
  func check(_ format: OutputFormat) throws {
    let end = URL(fileURLWithPath: description).pathExtension.lowercased()
    let named = OutputFormat(argument: end).flatMap { [.auto, .same].contains($0) ? nil : $0 }
    guard named != nil && named != format || ImageFormat(otherThanOutput: end) != nil else { return }
    let advice = named == nil ? "" : "give --format \(end), or "
    throw ValidationError("--name \(self) would name other formats so, too: \(advice)end it with {ext}")
  }

  /// The help of `--name`.
  static let help =
    "The names of the files, of {path} (the picture's folder within the source), {name}, {ext}, {oldext} (the picture's "
    + "own), {size} such as 400x400 or 400x, {width}, {height}, {date} and {hash}. (default: {path}/{name}.{ext}, with "
    + "several sizes {path}/{name}-{size}.{ext})"
}
