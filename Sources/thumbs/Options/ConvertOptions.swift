import ArgumentParser
import Exports
import FolderConversion
import Foundation
import ThumbnailCore
import Thumbnailer

/// The selection of input files.
struct ConvertSelectionOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: ArgumentHelp("Search folders with all folders in them.", visibility: .hidden))
  var recursive = true

  @Option(
    help: ArgumentHelp(
      "Take only files that fit, whatever the ends of their names; may be given several times.", valueName: "GLOB",
      visibility: .hidden),
    transform: GlobPattern.option)
  var include: [GlobPattern] = []

  @Option(
    help: ArgumentHelp(
      "Leave out what fits, folders as a whole; may be given several times.", valueName: "GLOB", visibility: .hidden),
    transform: GlobPattern.option)
  var exclude: [GlobPattern] = []

  @Option(
    help: ArgumentHelp(
      """
      What to make of a RAW file or HEIC with a JPEG of its name beside it: prefer-jpeg leaves it out.
      """, visibility: .hidden))
  var pair = FolderConverter.Options.Pairing.none

  @Flag(help: ArgumentHelp("Take files and folders whose names begin with a dot, too.", visibility: .hidden))
  var hidden = false

  @Flag(help: ArgumentHelp("Follow links within folders; loops are found.", visibility: .hidden))
  var followSymlinks = false

  @Flag(
    name: [.customShort("0"), .customLong("null")],
    help: ArgumentHelp("Names in lists end with zero bytes, as of find -print0.", visibility: .hidden))
  var isNullSeparated = false
}

/// The thumbnails' properties that only conversions have, in addition to `ThumbnailOptions`.
struct ConvertThumbnailOptions: ParsableArguments {
  @Flag(help: "Enlarge pictures that are smaller than the box.")
  var enlarge = false

  @Option(
    help: ArgumentHelp(
      "How hard the encoder tries, from 0, the fastest, to 9, the fewest bytes. (default: the best trade for most pictures)",
      valueName: "N", visibility: .hidden))
  var effort: Int?

  /// Which metadata are removed.
  enum Stripping: String, ExpressibleByArgument, CaseIterable {
    case all
    case keepICC = "keep-icc"
    case keepCopyright = "keep-copyright"

    var policy: MetadataPolicy {
      switch self {
      case .all: .none
      case .keepICC: .profile
      case .keepCopyright: .copyright
      }
    }
  }

  @Option(
    help: ArgumentHelp(
      """
      What metadata is left out: keep-icc keeps the picture's own colours and their profile, keep-copyright who made it.
      """, visibility: .hidden))
  var strip = Stripping.all

  @Option(
    help: ArgumentHelp(
      "The frames of animated GIF and WebP: with all the thumbnails are animated, as WebP unless --format same.",
      visibility: .hidden))
  var animated = FrameSelection.first

  @Option(
    help: ArgumentHelp(
      "What shows through transparent parts: rrggbb, black or white. (default: they stay, where the format can)",
      valueName: "COLOUR", visibility: .hidden), transform: RGBColor.option)
  var background: RGBColor?

  func validate() throws {
    try OptionCheck.value("--effort", effort, "give a number from 0 to 9") { (0...9).contains($0) }
  }
}

/// Where the thumbnails are written, and which of them.
struct ConvertOutputOptions: ParsableArguments {
  @Option(name: .shortAndLong, help: ArgumentHelp("The folder for the thumbnails.", valueName: "DIR"))
  var output: String

  @Option(
    help: ArgumentHelp(
      """
      The names of the files, of {path}, {name}, {ext}, {oldext}, {width}, {height}, {size}, {date} and {hash}. \
      (default: {path}/{name}.{ext}, with several sizes {path}/{name}-{size}.{ext})
      """, valueName: "TEMPLATE"), transform: NamingTemplate.option)
  var name: NamingTemplate?

  @Flag(help: "Make all thumbnails anew.")
  var force = false

  @Flag(help: ArgumentHelp("Go by time alone: make what is missing or older than its picture.", visibility: .hidden))
  var newer = false

  @Flag(
    help: ArgumentHelp("Remove thumbnails of earlier runs whose pictures are gone; asks first.", visibility: .hidden))
  var deleteOrphans = false

  @Flag(help: ArgumentHelp("Do not ask.", visibility: .hidden))
  var yes = false

  @Flag(help: ArgumentHelp("Give thumbnails the times of their pictures.", visibility: .hidden))
  var preserveTimes = false

  @Flag(help: ArgumentHelp("Stop at the first failure.", visibility: .hidden))
  var failFast = false

  @Flag(help: "Write nothing; say what would be done.")
  var dryRun = false

  func validate() throws {
    try OptionCheck.notEmpty("--output", output, "a folder")
    try OptionCheck.oneOf([("--force", force), ("--newer", newer)])
    if deleteOrphans, !yes, !dryRun, isatty(STDIN_FILENO) != 1 {
      throw ValidationError("--delete-orphans cannot ask here, where stdin is no terminal: give --yes, too")
    }
  }
}

/// The reports about a conversion.
struct ConvertReportOptions: ParsableArguments {
  @OptionGroup var output: ReportOptions

  @Option(
    help: ArgumentHelp(
      "Write a line for each input, as CSV where the name ends in .csv, else as --json.", valueName: "FILE",
      visibility: .hidden))
  var report: String?

  @OptionGroup var sheet: SheetOptions

  func validate() throws {
    try OptionCheck.notEmpty("--report", report, "a file")
  }
}
