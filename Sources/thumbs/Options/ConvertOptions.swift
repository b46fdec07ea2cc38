import ArgumentParser
import Exports
import FolderConversion
import Foundation
import Thumbnailer

/// The selection of input files.
struct ConvertSelectionOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: "Search folders with all folders in them.")
  var recursive = true

  @Option(
    help: ArgumentHelp(
      "Take only files that fit, whatever the ends of their names; may be given several times.", valueName: "GLOB"),
    transform: GlobPattern.option)
  var include: [GlobPattern] = []

  @Option(
    help: ArgumentHelp("Leave out what fits, folders as a whole; may be given several times.", valueName: "GLOB"),
    transform: GlobPattern.option)
  var exclude: [GlobPattern] = []

  @Option(
    help: """
      What to make of a RAW file or HEIC with a JPEG of its name beside it: prefer-jpeg leaves it out.
      """)
  var pair = FolderConverter.Options.Pairing.none

  @Flag(help: "Take files and folders whose names begin with a dot, too.")
  var hidden = false

  @Flag(help: "Follow links within folders; loops are found.")
  var followSymlinks = false

  @Flag(
    name: [.customShort("0"), .customLong("null")], help: "Names in lists end with zero bytes, as of find -print0.")
  var isNullSeparated = false
}

/// The thumbnails' properties that only conversions have, in addition to `ThumbnailOptions`.
struct ConvertThumbnailOptions: ParsableArguments {
  @Flag(help: "Enlarge pictures that are smaller than the box.")
  var enlarge = false

  @Option(
    help: ArgumentHelp(
      "How hard the encoder tries, from 0, the fastest, to 9, the fewest bytes. (default: as pays for most)",
      valueName: "N"))
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
    help: """
      What metadata is left out: keep-icc keeps the picture's own colours and their profile, keep-copyright who made it.
      """)
  var strip = Stripping.all

  @Option(
    help: "The frames of animated GIF and WebP: with all the thumbnails are animated, as WebP unless --format same.")
  var animated = FrameSelection.first

  @Option(
    help: ArgumentHelp(
      "What shows through transparent parts: rrggbb, black or white. (default: they stay, where the format can)",
      valueName: "COLOUR"), transform: RGBColor.option)
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
      The thumbnails' names, of {path}, {name}, {ext}, {oldext}, {width}, {height}, {size}, {date} and {hash}; \
      {date} is the day on which a file was taken. \
      (default: {path}/{name}.{ext}, with several sizes {path}/{name}-{size}.{ext})
      """, valueName: "TEMPLATE"), transform: NamingTemplate.option)
  var name: NamingTemplate?

  @Flag(help: "Make all thumbnails anew.")
  var force = false

  @Flag(help: "Go by time alone: make what is missing or older than its picture.")
  var newer = false

  @Flag(help: "Remove thumbnails of earlier runs whose pictures are gone; asks first.")
  var deleteOrphans = false

  @Flag(help: "Do not ask.")
  var yes = false

  @Flag(help: "Give thumbnails the times of their pictures.")
  var preserveTimes = false

  @Flag(help: "Stop at the first failure.")
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
      "Write a line for each input, as CSV where the name ends in .csv, else as --json.", valueName: "FILE"))
  var report: String?

  @OptionGroup var sheet: SheetOptions

  func validate() throws {
    try OptionCheck.notEmpty("--report", report, "a file")
  }
}
