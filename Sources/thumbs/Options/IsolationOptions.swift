import ArgumentParser
import Foundation
import DecodeSandbox
import Thumbnailer

/// The helper processes that decode, which may crash, hang or run out of memory without harm.
struct IsolationOptions: ConfigurationOptions {
  /// The images that helpers decode.
  enum Scope: String, ExpressibleByArgument, CaseIterable {
    case all, off
  }

  @Option(
    help: """
      The pictures that confined helper processes decode. off decodes in this process, where a hostile picture can do \
      whatever you can, and refuses the formats that can crash or hang their decoder (SVG, PDF, JPEG XL, JPEG 2000, \
      OpenEXR, PNM, BMP, ICO, Radiance HDR).
      """)
  var isolate = Scope.all

  @Flag(help: "Accept the unsafe formats from the web, too, not only in your own files.")
  var unsafeFromWeb = false

  @Option(
    "SIZE",
    "The memory of each helper, in addition to the memory budget, also for pictures beyond the budget. (default: 1GiB, "
      + "or five eighths of the memory if less)", .atLeast(.mebibytes(64), "64MiB"))
  var helperMemory: ByteSize?

  @Option(
    "SECONDS", "How long a helper may work on one picture. (default: 20)",
    .within(0.1...86_400, "give 0.1 to 86400 seconds"))
  var helperDeadline: Double?

  @Flag(
    help: """
      Refuse to run where the kernel cannot confine helpers: without seccomp filters or without Landlock. (otherwise a \
      line on stderr says so)
      """)
  var requireConfinement = false

  func validate() throws {
    let off = ("--isolate off", isolate == .off)
    try checkOneOf([("--require-confinement", requireConfinement), off], "leave one of them out")
    try checkOneOf([("--unsafe-from-web", unsafeFromWeb), off], "leave one of them out")
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    configuration.isolation = isolation
    guard isolate != .off, !requireConfinement else { return }
    for gap in DecodeIsolation.gapsOfThisMachine {
      Console.standard.complain("\(gap); --require-confinement refuses that")
    }
  }

  /// The isolation that the options select.
  var isolation: DecodeIsolation {
    if isolate == .off { return .inProcess }
    var isolation = DecodeIsolation()
    isolation.unsafeSources = unsafeFromWeb ? .anywhere : .userFiles
    isolation.requiresConfinement = requireConfinement
    if let helperMemory { isolation.memoryLimit = helperMemory }
    if let helperDeadline { isolation.deadline = .seconds(helperDeadline) }
    return isolation
  }
}
