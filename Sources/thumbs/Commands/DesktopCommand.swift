import ArgumentParser
import FolderConversion
import Foundation
import ImageCodec
import ThumbnailCore
import Thumbnailer

/// `thumbs desktop`: fills the folder of thumbnails that all file managers read.
struct DesktopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "desktop",
    abstract: "Makes the thumbnails that file managers show, ahead of time.",
    discussion: """
      Examples:
        thumbs desktop Pictures
        thumbs desktop --prune Pictures
        thumbs desktop --one photo.heic photo.png 256

      The four sizes of freedesktop.org's standard go to thumbnails in
      $XDG_CACHE_HOME or ~/.cache. What is current stays, whoever made it.

      thumbs desktop --help-hidden lists all options.
      """)

  @Argument(
    help: ArgumentHelp(
      "Files and folders; with --one a picture, the PNG to write, and its side.", valueName: "PATH"),
    completion: .file())
  var paths: [String] = []

  @Flag(help: "Make one thumbnail, as a file manager asks for it.")
  var one = false

  @Flag(help: "Remove the thumbnails of pictures that are gone from the folders.")
  var prune = false

  @OptionGroup var repetition: RepetitionOptions
  @OptionGroup var trial: DryRunOption

  @OptionGroup(title: "Selection", visibility: .hidden) var selection: ConvertSelectionOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var resources: DecodeOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var memory: MemoryOption
  @OptionGroup(title: "Report") var report: ReportOptions

  func validate() throws {
    if paths.isEmpty { throw ValidationError("nothing to do: name folders or pictures") }
    if paths.contains("") { throw ValidationError("a path is empty: name folders or pictures") }
    try checkOneOf([("--watch", repetition.watch), ("--dry-run", trial.dryRun), ("--one", one)])
    try checkOneOf([("--prune", prune), ("--one", one)])
    guard one else { return }
    guard paths.count == 3, let side = Int(paths[2]), (1...4096).contains(side) else {
      throw ValidationError(
        "--one takes a picture, the PNG, and its side from 1 to 4096: in.jpg out.png 256")
    }
  }

  func run() async throws {
    VerboseLog.start(report.verbose)
    if one { return try await makeOne() }
    var folder = ThumbnailPipeline.Configuration.standardCacheDirectory(environment: SecretVariables.environment)
    folder.deleteLastPathComponent()
    var options = FolderConverter.Options.desktop(
      paths.map { .path($0) }, in: RawPath(folder.appendingPathComponent("thumbnails").path))
    options.freshness = repetition.force ? .never : .index
    options.isDryRun = trial.dryRun
    selection.apply(to: &options)
    options.pipeline = try .init(resources, memory, from: options.pipeline)
    try await ConvertRun(options, removal: prune ? .unasked : .none, report: report, stays: repetition.watch).run()
      .end()
  }

  /// Makes a single thumbnail, for the file manager that has asked for it.
  private func makeOne() async throws {
    var options = FolderConverter.Options(inputs: [], output: "")
    options.pipeline = try .init(resources, memory, from: options.pipeline)
    let pipeline = options.pipeline
    if OutputFile.isSameFile(RawPath(paths[0]), paths[1]) {
      throw CommandFailure(.cannotWrite, "\(paths[1]) is the picture itself, which would be lost; choose another file")
    }
    do {
      let png = try await DesktopThumbnail.png(of: RawPath(paths[0]), side: Int(paths[2]) ?? 0, by: pipeline)
      let size = (try? probe(.memory([UInt8](png))).size) ?? PixelSize(1, 1)
      try OutputFile.write(png, of: size, to: paths[1], for: RawPath(paths[0]))
    } catch let error as ThumbnailError {
      Console.standard.complain("\(paths[0]): \(error.message)")
      throw ExitCode.someFailed
    } catch let error as FileWriteError {
      throw CommandFailure(error, choose: "another file")
    }
  }
}
