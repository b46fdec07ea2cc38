import ArgumentParser
import FolderConversion
import Foundation
import ThumbnailCore
import Thumbnailer

/// `thumbs convert`: converts files and folders to thumbnails in a folder.
struct ConvertCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Makes thumbnails of files and whole folders, into a folder.",
    discussion: """
      Examples:
        thumbs convert photos --output web --size 400 --size 1600 --format webp
        thumbs convert photos --output squares --size 200x200 --fit cover
        find photos -name '*.tif' -print0 | thumbs convert - -0 --output small

      The output folder gets the tree of the input folders. Current thumbnails are
      kept, so the same command continues an interrupted run.

      thumbs convert --help-hidden lists all options: limits and selection.
      docs/using.md explains them.
      """)

  @Argument(
    help: ArgumentHelp(
      "Files, folders, @FILE for a list of names, - for names on stdin; ./@a is a file called @a.",
      valueName: "PATH"), completion: .file())
  var paths: [String] = []

  @OptionGroup(title: "Output") var output: ConvertOutputOptions
  @OptionGroup(title: "Thumbnails") var thumbnails: ThumbnailOptions
  @OptionGroup(title: "Thumbnails") var kept: GravityOption
  @OptionGroup(title: "Thumbnails") var treatment: ConvertThumbnailOptions
  @OptionGroup(title: "Selection", visibility: .hidden) var selection: ConvertSelectionOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var resources: DecodeOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var memory: MemoryOption
  @OptionGroup(title: "Resources", visibility: .hidden) var previews: PreviewOption
  @OptionGroup(title: "Report") var report: ReportOptions

  func validate() throws {
    try output.naming.name?.check(thumbnails.format)
    if paths.isEmpty { throw ValidationError("nothing to convert: name files or folders, or - for names on stdin") }
    if paths.contains("") { throw ValidationError("a path is empty: name files or folders") }
    if paths.filter({ $0 == "-" }).count > 1 { throw ValidationError("- stands for stdin, which can be read once") }
    let address = (paths + [output.output]).first { $0.contains("://") && access($0, F_OK) != 0 }
    if let address {
      throw ValidationError("\(address) is no file or folder here: for addresses, see thumbs get and thumbs prefetch")
    }
    if output.watch {
      if let list = paths.first(where: { $0 == "-" || $0.hasPrefix("@") }) {
        throw ValidationError("--watch takes folders, not the list \(list)")
      }
    }
    if paths.contains("-"), output.orphans.removal == .asked, !output.dryRun {
      throw ValidationError("--delete-orphans cannot ask while stdin brings names: give --yes, too")
    }
  }

  func run() async throws {
    VerboseLog.start(report.verbose)
    try await ConvertRun(options(), removal: output.orphans.removal, report: report, stays: output.watch).run().end()
  }

  /// The library's options.
  private func options() throws -> FolderConverter.Options {
    let inputs = zip(paths, RawPath.arguments(paths)).map { text, path -> FolderConverter.Input in
      if text == "-" { return .standardInput }
      return text.hasPrefix("@") ? .list(RawPath(bytes: path.bytes.dropFirst())) : .path(path)
    }
    var options = FolderConverter.Options(inputs: inputs, output: RawPath.arguments([output.output])[0])
    (options.sizes, options.fit, options.gravity) = (thumbnails.distinctSizes, thumbnails.fit, kept.gravity)
    (options.format, options.quality) = (thumbnails.format, thumbnails.quality)
    treatment.apply(to: &options)
    selection.apply(to: &options)
    output.apply(to: &options)
    options.pipeline = try .init(resources, memory, previews, from: options.pipeline)
    return options
  }
}
