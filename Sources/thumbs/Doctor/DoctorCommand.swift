import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs doctor`: reports versions, settings and problems.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Reports versions, formats and problems of this machine.",
    discussion: """
      Examples:
        thumbs doctor
        thumbs doctor --json
        thumbs doctor --cache-dir /var/cache/thumbs --disk-cache 20GiB

      Reads and writes a tiny picture of every format, and reports the confinement
      of helpers, and the cache. Exit status 1 if something necessary is missing.

      docs/reports.md says what --json prints.
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup(title: "Isolation", visibility: .hidden) var isolation: IsolationOptions
  @OptionGroup var form: JSONOption

  func run() async throws {
    let configuration = try ThumbnailPipeline.Configuration(cache, isolation)
    let diagnostics = try await Diagnostics.gather(configuration)
    try Console.standard.print(form.json ? diagnostics.json.line : diagnostics.text)
    if !diagnostics.isHealthy { throw ExitCode.someFailed }
  }
}
