import ArgumentParser
import FolderConversion
import Foundation
import Thumbnailer

/// `thumbs convert`: converts files and folders to thumbnails in a folder.
struct ConvertCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Makes thumbnails of files and whole folders, into a folder.",
    discussion: """
      Examples:
        thumbs convert photos --output small
        thumbs convert photos --output web --size 400 --size 1600 --format webp
        thumbs convert photos --output squares --size 200x200 --fit cover \\
          --sheet squares.html
        find photos -name '*.tif' -print0 | thumbs convert - -0 --output small

      The output folder gets the tree of the input folders. What is up to date is
      left as it is, so the same command goes on where an earlier one stopped: the
      file .thumbs-index in the output folder tells by the picture's time and length,
      the options and the encoder's version. A picture gets all its sizes or none,
      and a thumbnail its name only when it is complete.

      Pictures that would write one file keep their extensions in its name:
      IMG_1.HEIC and IMG_1.JPG become IMG_1.heic.jpg and IMG_1.jpg.jpg; where these
      are the same, too, digits of a hash of the path follow. The names depend on
      the pictures alone: where a picture has come or gone since the last run, the
      thumbnails of that run give way to those of the new name, and that is said.
      With --name, pictures that would write one file are named, and nothing is
      written.

      --json prints for each input: source, status (converted, current, failed or
      skipped), outputs [{path, width, height, format, bytes}], toldApart (true
      where the names keep the extension), replaced [path] (thumbnails that gave
      way), error {stage, code, message}, plan, ms. The last line holds the summary:
      converted, current, failed, skipped (skips tells for what reasons, such as link
      or video; videos and paired how many were videos, and RAW or HEIC beside a
      JPEG), toldApart, replaced, seconds, peakMemoryBytes; with --dry-run also
      wouldConvert.

      Links in folders are skipped and counted, unless --follow-symlinks; one that
      leads nowhere and is named like a picture fails.
      """)

  @Argument(
    help: ArgumentHelp(
      "Files, folders, @FILE for a list of names, - for names on stdin; ./@a is a file called @a.",
      valueName: "PATH"))
  var paths: [String] = []

  @OptionGroup(title: "Output") var output: ConvertOutputOptions
  @OptionGroup(title: "Thumbnails") var thumbnails: ThumbnailOptions
  @OptionGroup(title: "Thumbnails") var treatment: ConvertThumbnailOptions
  @OptionGroup(title: "Outline") var outline: FramingOptions
  @OptionGroup(title: "Selection") var selection: ConvertSelectionOptions
  @OptionGroup(title: "Resources") var resources: DecodeOptions
  @OptionGroup(title: "Isolation") var isolation: IsolationOptions
  @OptionGroup(title: "Report") var report: ConvertReportOptions

  func validate() throws {
    if paths.isEmpty { throw ValidationError("nothing to convert: name files or folders, or - for names on stdin") }
    if paths.contains("") { throw ValidationError("a path is empty: name files or folders") }
    if paths.filter({ $0 == "-" }).count > 1 { throw ValidationError("- stands for stdin, which can be read once") }
    if paths.contains("-"), output.deleteOrphans, !output.yes, !output.dryRun {
      throw ValidationError("--delete-orphans cannot ask while stdin brings names: give --yes, too")
    }
  }

  func run() async throws {
    VerboseLog.start(report.output.verbose)
    try await ConvertRun(options, output: output, report: report).run().end()
  }

  /// The library's options.
  private var options: FolderConverter.Options {
    let inputs = paths.map { path -> FolderConverter.Input in
      if path == "-" { return .standardInput }
      return path.hasPrefix("@") ? .list(RawPath(path.dropFirst())) : .path(path)
    }
    var options = FolderConverter.Options(inputs: inputs, output: output.output)
    options.sizes = thumbnails.distinctSizes
    (options.fit, options.gravity, options.enlarges) = (thumbnails.fit, thumbnails.gravity, treatment.enlarge)
    options.framing = outline.framing(thumbnails.gravity)
    (options.scaling, options.format, options.quality) = (thumbnails.scaling, thumbnails.format, thumbnails.quality)
    (options.light, options.background, options.effort) = (thumbnails.light, treatment.background, treatment.effort)
    (options.metadata, options.frames) = (treatment.strip.policy, treatment.animated)
    options.name = output.name
    (options.isRecursive, options.includesHidden) = (selection.recursive, selection.hidden)
    (options.include, options.exclude) = (selection.include, selection.exclude)
    options.pairing = selection.pair
    (options.followsLinks, options.listsAreNullSeparated) = (selection.followSymlinks, selection.isNullSeparated)
    options.freshness = output.force ? .never : output.newer ? .modificationTime : .index
    (options.preservesTimes, options.failsFast, options.isDryRun) =
      (output.preserveTimes, output.failFast, output.dryRun)
    resources.apply(to: &options.pipeline)
    isolation.apply(to: &options.pipeline)
    return options
  }
}
