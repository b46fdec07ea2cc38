import ArgumentParser
import FolderConversion
import ThumbnailCore

/// `thumbs site`: writes a gallery as static files.
struct SiteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "site",
    abstract: "Writes a gallery of a folder as static files, for any web server.",
    usage: "thumbs site <FOLDER> --output <DIR> [<options>]",
    discussion: """
      Example:
        thumbs site Pictures --output www --title Holidays --originals

      Open www/index.html, or copy www to a server. The next run makes only what
      is new or has changed. What earlier runs have left there, as of pictures that
      are gone or excluded, stays unless --delete-orphans removes it; --yes does not
      ask. thumbs site --help-hidden lists all options.
      """)

  @OptionGroup var target: OutputFolderOption

  @Argument(help: ArgumentHelp("The folder of the pictures.", valueName: "FOLDER"), completion: .directory)
  var folder: String

  @Option("TEXT", "The title. (default: the folder's name)", .naming("a title"))
  var title: String?

  @Option("N", "The longer side of enlarged pictures, in pixels.", .within(65...16_383))
  var viewSize = 1600

  @Flag(help: "Copy pictures, too, with all their metadata, but no drawings (SVG, PDF).")
  var originals = false

  @OptionGroup(title: "Selection", visibility: .hidden) var orphans: OrphanOptions
  @OptionGroup(title: "Selection", visibility: .hidden) var selection: ConvertSelectionOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var resources: DecodeOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var memory: MemoryOption
  @OptionGroup(title: "Report") var report: ReportOptions

  private var output: String { target.output }

  func validate() throws {
    if (try? FileState(of: RawPath(folder)))?.kind != .folder { throw ValidationError("name a folder, not \(folder)") }
    let (source, target) = (RawPath(folder).resolved, RawPath(output).resolved)
    if let source, let target, source != target, target.isWithin(source), FolderConverter.hasOtherFiles(target) {
      throw ValidationError(
        "\(output) has other files, which galleries of \(folder) would leave out: name a folder of its own")
    }
    try orphans.checkTerminal()
  }

  func run() async throws {
    VerboseLog.start(report.verbose)
    var options = FolderConverter.Options.site(
      of: RawPath(folder), in: RawPath(output), title: title, grid: min(512, viewSize - 1), view: viewSize,
      copiesOriginals: originals
    )
    selection.apply(to: &options)
    options.pipeline = try .init(resources, memory, from: options.pipeline)
    let removal = orphans.deleteOrphans ? orphans.removal : .counted
    try await ConvertRun(options, removal: removal, report: report).run().end()
  }
}
