import ArgumentParser
import Foundation
import Thumbnailer

/// What is decoded in a helper process, which may crash, hang or run out of memory without harm.
struct IsolationOptions: ParsableArguments {
  /// What the helper decodes.
  enum Scope: String, ExpressibleByArgument, CaseIterable {
    case unsafe, all, off
  }

  @Option(
    help: ArgumentHelp(
      """
      What is decoded in a helper process: unsafe is the formats that can crash or hang their decoder (SVG, PDF, \
      JPEG XL, JPEG 2000, OpenEXR, PNM, BMP, ICO, Radiance HDR), off refuses these.
      """))
  var isolate = Scope.unsafe

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

  func validate() throws {
    if unsafeFromWeb, safeFormatsOnly || isolate == .off {
      let other = safeFormatsOnly ? "--safe-formats-only" : "--isolate off"
      throw ValidationError("--unsafe-from-web and \(other) exclude each other: leave one of them out")
    }
    if let helperMemory, helperMemory < .mebibytes(64) {
      throw ValidationError("--helper-memory \(helperMemory) is too little to work with: give at least 64MiB")
    }
    if let helperDeadline, !(0.1...86_400).contains(helperDeadline) {
      throw ValidationError("--helper-deadline \(helperDeadline) cannot be used: give 0.1 to 86400 seconds")
    }
  }

  /// The configuration with these options applied.
  func applied(to configuration: ThumbnailPipeline.Configuration) -> ThumbnailPipeline.Configuration {
    var configuration = configuration
    configuration.isolation = isolation
    return configuration
  }

  /// The isolation, with this executable as its own helper.
  var isolation: DecodeIsolation {
    if isolate == .off { return .none }
    // Not the executable's path, which may point to another version by the time a helper is started.
    var isolation = DecodeIsolation.helper(
      executable: URL(fileURLWithPath: "/proc/self/exe", isDirectory: false),
      formats: isolate == .all ? .all : .unsafeOnly)
    isolation.unsafeSources = safeFormatsOnly ? .none : unsafeFromWeb ? .anywhere : .userFiles
    if let helperMemory { isolation.memoryLimit = helperMemory }
    if let helperDeadline { isolation.deadline = .seconds(helperDeadline) }
    return isolation
  }
}
