import ArgumentParser
import Exports
import Foundation
import Thumbnailer

/// Output for programs.
struct JSONOption: ParsableArguments {
  @Flag(help: "Print JSON: one object, or one a line for each picture and then the summary.")
  var json = false
}

/// The log.
struct VerboseOption: ParsableArguments {
  @Flag(
    name: .shortAndLong,
    help: ArgumentHelp("Log what happens at each stage, on stderr, without the queries of URLs.", visibility: .hidden))
  var verbose = false
}

/// The amount and the form of the output.
struct ReportOptions: ParsableArguments {
  @OptionGroup var form: JSONOption

  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  @OptionGroup var verbosity: VerboseOption

  var json: Bool { form.json }
  var verbose: Bool { verbosity.verbose }

  /// Whether to show the progress line: stderr is a terminal, and nothing else is written there continuously.
  var showsProgress: Bool { !quiet && !verbose && isatty(Console.standard.error) == 1 }
}

/// A trial run.
struct DryRunOption: ParsableArguments {
  @Flag(help: "Change nothing; say what would be done.")
  var dryRun = false
}

/// How often a folder's thumbnails are made.
struct RepetitionOptions: ParsableArguments {
  @Flag(help: "Make all thumbnails anew.")
  var force = false

  @Flag(help: "Stay, and make the thumbnails of what changes in the folders.")
  var watch = false
}

/// The folder of the files that are written.
struct OutputFolderOption: ParsableArguments {
  @Option("DIR", "The folder for what is made.", name: .shortAndLong, .naming("a folder"))
  var output: String
}

/// The names of the files that are written.
struct NameOption: ParsableArguments {
  @Option(
    "TEMPLATE",
    "The names of the files, of {path} (the picture's folder within the source), {name}, {ext}, {oldext} (the picture's "
      + "own), {size} such as 400x400 or 400x, {width}, {height}, {date} and {hash}. (default: {path}/{name}.{ext}, with "
      + "several sizes {path}/{name}-{size}.{ext})") var name: NamingTemplate?
}

/// Files written in addition to the cache, for people to look at.
struct ExportOptions: ParsableArguments {
  @Option("FILE", "Write a contact sheet, a page in one file, over an earlier one.", .naming("a file, .html"))
  var sheet: String?

  @Option("DIR", "Write the thumbnails as files, too, into this folder.", .naming("a folder"))
  var export: String?

  @OptionGroup var naming: NameOption

  var name: NamingTemplate? { naming.name }

  func validate() throws {
    if export == nil, name != nil { throw ValidationError("--name names exported files: give --export DIR, too") }
    if let sheet, !SheetFile.isPage(sheet) {
      throw ValidationError("--sheet \(sheet) cannot be written: contact sheets are pages; name it .html")
    }
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
}
