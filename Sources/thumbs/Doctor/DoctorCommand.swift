import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs doctor`: reports versions and settings, and what is wrong or missing.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Says what this machine can do, which limits hold, and what is wrong or missing.",
    discussion: """
      Examples:
        thumbs doctor
        thumbs doctor --json
        thumbs doctor --cache-dir /var/cache/thumbs --disk-cache 20GiB
        thumbs doctor --public-addresses-only --allow-network 10.20.0.0/16

      Reads and writes a tiny picture of every format, in process and in a helper,
      says what confines helpers, looks into the cache without changing it, and says
      where each limit comes from: an option, the default, the control group, or the
      system; and which addresses may be reached. Each line of what is wrong says what
      to do. Exit status 1 when something that is needed is missing.

      --json prints one object: healthy, versions {…}, formats [{format, reader
      (process, helper or none), readingProblem, written, writingProblem}],
      confinement {systemCalls, files, namespaces}, cache {directory, exists,
      thumbnails, sources, bytes, fileBytes, fileSystem, network, freeBytes},
      limits [{name, value, unit, origin}], network {tls, protocols, httpVersions,
      compressions}, addresses {publicOnly, allowed, refused}, findings [{severity (problem or remark), message}].
      """)

  @OptionGroup(title: "Resources") var resources: PipelineOptions
  @OptionGroup(title: "Network") var addresses: AddressOptions
  @OptionGroup(title: "Isolation") var isolation: IsolationOptions
  @Flag(help: "Print one JSON object.") var json = false

  func run() async throws {
    let configuration = try ThumbnailPipeline.Configuration(resources, addresses, isolation)
    let diagnostics = try await Diagnostics.gather(configuration)
    let report = DoctorReport(diagnostics: diagnostics)
    try Console.standard.print(json ? report.json : report.text)
    if !diagnostics.isHealthy { throw ExitCode.someFailed }
  }
}
