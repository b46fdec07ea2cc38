import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs doctor`: reports versions, settings and problems.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Reports versions, formats, limits and problems of this machine.",
    discussion: """
      Examples:
        thumbs doctor
        thumbs doctor --json
        thumbs doctor --cache-dir /var/cache/thumbs --disk-cache 20GiB
        thumbs doctor --public-addresses-only --allow-network 10.20.0.0/16

      Reads and writes a tiny picture of every format, and reports the confinement
      of helpers, the cache, the limits with their origins, and the allowed
      addresses. Exit status 1 if something necessary is missing.

      thumbs doctor --help-hidden lists the options whose limits it reports,
      docs/reports.md says what --json prints.
      """)

  @OptionGroup(title: "Resources", visibility: .hidden) var resources: PipelineOptions
  @OptionGroup(title: "Network", visibility: .hidden) var addresses: AddressOptions
  @OptionGroup(title: "Isolation", visibility: .hidden) var isolation: IsolationOptions
  @OptionGroup var form: JSONOption

  func run() async throws {
    let configuration = try ThumbnailPipeline.Configuration(resources, addresses, isolation)
    let diagnostics = try await Diagnostics.gather(configuration)
    try Console.standard.print(form.json ? diagnostics.json.line : diagnostics.text)
    if !diagnostics.isHealthy { throw ExitCode.someFailed }
  }
}
