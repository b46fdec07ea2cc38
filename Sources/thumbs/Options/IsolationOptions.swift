import ArgumentParser
import Foundation
import DecodeSandbox
import Thumbnailer

/// The formats that are accepted from the web.
struct UnsafeFormatsOption: ConfigurationOptions {
  @Flag(
    help: "Accept the unsafe formats (SVG, PDF, JPEG XL …) from the web, too, not only in your own files.")
  var unsafeFromWeb = false

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    if unsafeFromWeb { configuration.isolation.unsafeSources = .anywhere }
  }
}

/// The helper processes that decode, which may crash, hang or run out of memory without harm: for operators.
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

  @OptionGroup var formats: UnsafeFormatsOption

  @Flag(
    help: """
      Refuse to run where the kernel cannot confine helpers: without seccomp filters or without Landlock. (otherwise a \
      line on stderr says so)
      """)
  var requireConfinement = false

  func validate() throws {
    let off = ("--isolate off", isolate == .off)
    try checkOneOf([("--require-confinement", requireConfinement), off], "leave one of them out")
    try checkOneOf([("--unsafe-from-web", formats.unsafeFromWeb), off], "leave one of them out")
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    if isolate == .off { configuration.isolation = .inProcess }
    configuration.isolation.requiresConfinement = requireConfinement
    formats.apply(to: &configuration)
  }
}

/// How long a helper may work: for servers.
struct HelperDeadlineOption: ConfigurationOptions {
  @Option(
    "SECONDS", "How long a helper may work on one picture. (default: 20)",
    .within(0.1...86_400, "give 0.1 to 86400 seconds"))
  var helperDeadline: Double?

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    if let helperDeadline { configuration.isolation.deadline = .seconds(helperDeadline) }
  }
}
