import ArgumentParser
import Exports
import FolderConversion
import Foundation
import ThumbnailCore
import Thumbnailer

/// The selection of input files, in a hidden group.
struct ConvertSelectionOptions: ParsableArguments {
  @Option(
    "GLOB", "Convert only files that match, from the named folder, with any extension; may be given several times.")
  var include: [GlobPattern] = []

  @Option("GLOB", "Leave out files and folders that match, from the named folder; may be given several times.")
  var exclude: [GlobPattern] = []

  @Option(help: "Whether to convert a RAW file or HEIC beside a JPEG of its name: prefer-jpeg skips it.")
  var pair = FolderConverter.Options.Pairing.none

  @Flag(help: "Follow links within folders; loops are found.")
  var followSymlinks = false

  @Flag(
    name: [.customShort("0"), .customLong("null")], help: "Names in lists end with zero bytes, as of find -print0.")
  var isNullSeparated = false

  func apply(to options: inout FolderConverter.Options) {
    (options.include, options.exclude, options.pairing) = (include, exclude, pair)
    (options.followsLinks, options.listsAreNullSeparated) = (followSymlinks, isNullSeparated)
  }
}

/// The thumbnails' properties that only conversions have, in addition to `ThumbnailOptions`.
struct ConvertThumbnailOptions: ParsableArguments {
  @Flag(help: ArgumentHelp("Enlarge pictures that are smaller than the box.", visibility: .hidden))
  var enlarge = false

  /// The metadata that are removed.
  enum Stripping: String, ExpressibleByArgument, CaseIterable {
    case all
    case keepICC = "keep-icc"
  }

  @Option(
    help: ArgumentHelp(
      """
      The metadata that is left out: keep-icc keeps the picture's own colours and their profile.
      """, visibility: .hidden))
  var strip = Stripping.all

  @Option(
    help: ArgumentHelp(
      "The frames of animated GIF and WebP: with all the thumbnails are animated, as WebP unless --format same.",
      visibility: .hidden))
  var animated = FrameSelection.first

  @Option(
    "COLOUR",
    "The colour behind transparent parts: rrggbb, black or white. (default: none, if the format can)",
    visibility: .hidden)
  var background: RGBColor?

  func apply(to options: inout FolderConverter.Options) {
    (options.enlarges, options.background) = (enlarge, background)
    options.metadata = strip == .all ? .none : .profile
    options.frames = animated
  }
}

/// The removal of what earlier runs have made of pictures that are gone.
struct OrphanOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Remove thumbnails whose pictures are gone, left out or have other sizes or names; asks first.",
      visibility: .hidden))
  var deleteOrphans = false

  @Flag(help: ArgumentHelp("Do not ask.", visibility: .hidden))
  var yes = false

  var removal: ConvertRun.Removal { !deleteOrphans ? .none : yes ? .unasked : .asked }

  /// Refuses to ask without a terminal, which could not respond.
  func checkTerminal() throws {
    if removal == .asked, isatty(Console.standard.input) != 1 {
      throw ValidationError("--delete-orphans cannot ask here, where stdin is no terminal: give --yes, too")
    }
  }
}

/// The thumbnails that are written, and their folder.
struct ConvertOutputOptions: ParsableArguments {
  @OptionGroup var folder: OutputFolderOption
  @OptionGroup var naming: NameOption
  @OptionGroup var repetition: RepetitionOptions

  @OptionGroup var orphans: OrphanOptions
  @OptionGroup var trial: DryRunOption

  var output: String { folder.output }
  var watch: Bool { repetition.watch }
  var dryRun: Bool { trial.dryRun }

  func validate() throws {
    try checkOneOf([("--watch", watch), ("--dry-run", dryRun)])
    if orphans.removal == .asked, watch {
      throw ValidationError("--delete-orphans cannot ask while it watches: give --yes, too")
    }
    if !dryRun { try orphans.checkTerminal() }
    let named = OutputFormat(argument: URL(fileURLWithPath: output).pathExtension.lowercased())
    if let named, ![.auto, .same].contains(named), !output.hasSuffix("/"),
      !FileManager.default.fileExists(atPath: output)
    {
      throw ValidationError(
        "--output \(output) would be a folder: for one file, use thumbs get --output; for a folder, make it first")
    }
  }

  func apply(to options: inout FolderConverter.Options) {
    options.name = naming.name
    options.freshness = repetition.force ? .never : .index
    options.isDryRun = dryRun
  }
}
