import ArgumentParser
import Thumbnailer

/// `thumbs version`: what `--version` prints.
struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Prints the version, as --version does.")

  func run() throws { try Console.standard.print(ThumbnailPipeline.version) }
}
