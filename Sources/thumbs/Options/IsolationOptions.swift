import ArgumentParser
import Foundation
import Thumbnailer

/// What is decoded in a helper process, which may crash, hang or run out of memory without harm.
struct IsolationOptions: ConfigurationOptions {
  /// What the helper decodes.
  enum Scope: String, ExpressibleByArgument, CaseIterable {
    case web, unsafe, all, off

    /// Nil where there is no helper.
    var formats: DecodeIsolation.Formats? {
      switch self {
      case .web: .web
      case .unsafe: .unsafeOnly
      case .all: .all
      case .off: nil
      }
    }
  }

  @Option(
    help: ArgumentHelp(
      """
      What is decoded in a helper process: unsafe is the formats that can crash or hang their decoder (SVG, PDF, \
      JPEG XL, JPEG 2000, OpenEXR, PNM, BMP, ICO, Radiance HDR), off refuses these. web adds all of the web that a \
      library in C decodes.
      """))
  var isolate = Scope.web

  @Flag(help: "Refuse the unsafe formats, even among your own files.")
  var safeFormatsOnly = false

  @Flag(help: "Take the unsafe formats from the web too, not only among your own files.")
  var unsafeFromWeb = false

  @Option(
    help: ArgumentHelp(
      """
      What each helper may take, beside the memory budget. Pictures beyond the budget go there too. (default: 1GiB, or \
      half of the memory if less)
      """,
      valueName: "SIZE"), transform: ByteSize.option)
  var helperMemory: ByteSize?

  @Option(
    help: ArgumentHelp("How long a helper may work on one picture. (default: 20)", valueName: "SECONDS"))
  var helperDeadline: Double?

  @Flag(
    help: """
      Refuse to run where the kernel cannot confine helpers: without seccomp filters or without Landlock. (otherwise a \
      line on stderr says so)
      """)
  var requireConfinement = false

  func validate() throws {
    try OptionCheck.oneOf(
      [("--require-confinement", requireConfinement), ("--isolate off", isolate == .off)], "leave one of them out")
    for refusal in [("--safe-formats-only", safeFormatsOnly), ("--isolate off", isolate == .off)] {
      try OptionCheck.oneOf([("--unsafe-from-web", unsafeFromWeb), refusal], "leave one of them out")
    }
    try OptionCheck.size("--helper-memory", helperMemory, atLeastMebibytes: 64)
    try OptionCheck.value("--helper-deadline", helperDeadline, "give 0.1 to 86400 seconds") {
      (0.1...86_400).contains($0)
    }
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    configuration.isolation = isolation
    guard isolate != .off, !requireConfinement else { return }
    for gap in DecodeIsolation.gapsOfThisMachine {
      Console.standard.complain("\(gap); --require-confinement refuses that")
    }
  }

  /// The isolation, with this executable as its own helper.
  var isolation: DecodeIsolation {
    guard let formats = isolate.formats else { return .none }
    // Not the executable's path, which may point to another version by the time a helper is started.
    var isolation = DecodeIsolation.helper(
      executable: URL(fileURLWithPath: "/proc/self/exe", isDirectory: false), formats: formats)
    if safeFormatsOnly {
      isolation.unsafeSources = .none
    } else {
      isolation.unsafeSources = unsafeFromWeb ? .anywhere : .userFiles
    }
    isolation.requiresConfinement = requireConfinement
    if let helperMemory { isolation.memoryLimit = helperMemory }
    if let helperDeadline { isolation.deadline = .seconds(helperDeadline) }
    return isolation
  }
}
