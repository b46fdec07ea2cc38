import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs get`: one picture through the pipeline, into a file.
struct GetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Makes the thumbnail of one picture.",
    discussion: """
      Examples:
        thumbs get https://example.org/a.jpg --size 400x300 --output small.jpg
        thumbs get photo.jpg --size 256x256 --explain
        thumbs get https://example.org/a.jpg --refresh --output small.jpg
        thumbs get photo.heic --size 800x800 --fit contain --output - > small.jpg
        thumbs get photo.jpg --sheet photo.html

      Without --format, the end of the output's name decides: .jpg, .png, .webp
      or .avif. The output is written as a whole or not at all.
      """)

  @Argument(help: ArgumentHelp("The picture: an http or https URL, or a path.", valueName: "URL|PATH"))
  var picture: String

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("Where the thumbnail goes; - is stdout.", valueName: "FILE|-"))
  var target: String?

  @Flag(help: "Say how the picture is read and what that costs, past the caches; --output is not needed then.")
  var explain = false

  @OptionGroup var look: SheetOptions

  @OptionGroup(title: "Thumbnail") var thumbnail: ThumbnailOptions
  @OptionGroup(title: "Freshness") var freshness: FreshnessOptions
  @OptionGroup(title: "Resources") var resources: PipelineOptions
  @OptionGroup(title: "Network") var network: NetworkOptions
  @OptionGroup(title: "Isolation") var isolation: IsolationOptions

  @Flag(name: .shortAndLong, help: "Log what happens at each stage, on stderr.")
  var verbose = false

  func validate() throws {
    if thumbnail.sizes.count > 1 { throw ValidationError("get makes one thumbnail: give --size once") }
    guard target != nil || explain || look.sheet != nil else {
      throw ValidationError("nowhere to put the thumbnail: give --output FILE, or - for stdout")
    }
    if explain, freshness.offline {
      throw ValidationError("--explain and --offline exclude each other: it looks past the caches")
    }
    if let sheet = look.sheet, let target, OutputFile.isSamePath(sheet, target) {
      throw ValidationError("--sheet and --output name the same file, \(target): give them names of their own")
    }
    if target == "" { throw ValidationError("--output is empty: name a file, or - for stdout") }
    if picture.isEmpty { throw ValidationError("the picture's name is empty: give a URL or a path") }
    if thumbnail.format == .auto, let other = ImageFormat(otherThanOutput: outputExtension) {
      throw ValidationError(
        "--output \(output): \(other.displayName) is not written; name it .jpg, .png, .webp or .avif, or give --format")
    }
  }

  /// The name given; empty where only an explanation is asked for.
  private var output: String { target ?? "" }

  func run() async throws {
    let console = Console()
    Logs.start(verbose: verbose, console: console)
    let stages = verbose ? StageLog(console: console) : nil
    let status = try await get(console, stages)
    await stages?.finish()
    if status != .success { throw status }
  }

  private func get(_ console: Console, _ stages: StageLog?) async throws -> ExitCode {
    var source = try ImageSource(commandLine: picture)
    for (name, option) in [(output, "--output"), (look.sheet ?? "", "--sheet")]
    where source.isUserFile && OutputFile.isSameFile(source.url.path, name) {
      console.complain("\(name) is the picture itself, which would be lost; choose another \(option)")
      return .cannotWrite
    }
    source = source.adding(try network.hostHeaders(for: source.url))
    if output == "-", isatty(STDOUT_FILENO) == 1 {
      console.complain("stdout is a terminal, which cannot show a picture; name a file with --output, or use a pipe")
      return .cannotWrite
    }
    let sheet = try makeSheet(title: cell(of: source).name, console)
    let interruption = Interruption()
    do {
      var configuration = try isolation.applied(
        to: network.applied(to: freshness.applied(to: resources.configuration)))
      if explain {
        configuration.diskCacheLimit = ByteSize(bytes: 0)
        configuration.memoryCacheLimit = ByteSize(bytes: 0)
      }
      let pipeline = try ThumbnailPipeline(configuration)
      stages?.follow(pipeline)
      let explanation = explain ? Explanation(following: pipeline) : nil
      if let problem = pipeline.cacheProblem { console.complain("\(problem); going on without the disk cache") }
      if let replacement = pipeline.cacheReplacement { console.complain(replacement) }
      let request = ThumbnailRequest(source, variant: variant)
      let thumbnail: Thumbnail
      do {
        thumbnail = try await interruption.cancelling { try await pipeline.thumbnail(for: request) }
      } catch {
        // That it is not to be had is remembered, too.
        await pipeline.flush()
        throw error
      }
      await pipeline.flush()
      var cell = cell(of: source)
      (cell.pictures, cell.source) = ([SheetCell.Picture(thumbnail)], thumbnail.source)
      if let failed = await finish(sheet, cell, console) { return failed }
      if let explanation { await explanation.print(of: thumbnail, on: console, toStdout: output != "-") }
      if target == nil { return .success }
      if let named = namedFormat, named.rawValue != thumbnail.format.rawValue {
        console.complain("\(output) will hold \(thumbnail.format.displayName), as --format says, whatever its name")
      }
      return write(thumbnail, console: console)
    } catch let error as ThumbnailError {
      if let signal = interruption.signal { return .stopped(by: signal) }
      console.complain("\(picture): \(error.message)")
      var cell = cell(of: source)
      cell.failure = error.message
      return await finish(sheet, cell, console) ?? .someFailed
    }
  }

  /// The picture as a contact sheet shows it.
  private func cell(of source: ImageSource) -> SheetCell {
    let name = source.url.lastPathComponent
    return SheetCell(
      name: name.isEmpty || name == "/" ? source.url.host() ?? "" : name,
      url: source.isUserFile ? nil : SheetCell.publicAddress(of: source.url))
  }

  /// Begins the contact sheet, where one is asked for.
  private func makeSheet(title: String, _ console: Console) throws -> SheetFile? {
    do {
      return try look.sheet.map { try SheetFile(path: $0, title: title) }
    } catch let error as ReportFile.Failure {
      console.complain(error.message(choose: "another --sheet"))
      throw ExitCode.cannotWrite
    }
  }

  /// Writes the sheet of the one picture; the status to end with when it cannot be written.
  private func finish(_ sheet: SheetFile?, _ cell: SheetCell, _ console: Console) async -> ExitCode? {
    do {
      try await sheet?.add(cell)
      _ = try await sheet?.finish(pictures: 1, failed: cell.failure == nil ? 0 : 1)
      return nil
    } catch {
      console.complain(PrefetchRun.fileMessage(error) ?? "\(error)")
      return .cannotWrite
    }
  }

  private var outputExtension: String { URL(fileURLWithPath: output).pathExtension.lowercased() }

  /// What was asked for, with the output's name deciding the format where nothing else does.
  private var variant: Variant {
    var variant = thumbnail.variants[0]
    if variant.format == .auto, let namedFormat { variant.format = namedFormat }
    return variant
  }

  /// The format that the output's name speaks of, if any.
  private var namedFormat: OutputFormat? {
    switch outputExtension {
    case "jpg", "jpeg": .jpeg
    case "png": .png
    case "webp": .webp
    case "avif": .avif
    case "jxl": .jxl
    default: nil
    }
  }

  private func write(_ thumbnail: Thumbnail, console: Console) -> ExitCode {
    if output == "-" {
      do {
        try console.print(bytes: thumbnail.data)
        return .success
      } catch {
        return console.cannotPrint(error)
      }
    }
    do {
      try OutputFile.write(thumbnail.data, to: output)
      return .success
    } catch {
      console.complain(ReportFile.Failure(path: output, error).message(choose: "another --output"))
      return .cannotWrite
    }
  }
}

extension ImageSource {
  /// What the user named on the command line: a URL, or a local file.
  init(commandLine text: String) throws {
    guard let separator = text.range(of: "://") else {
      self = .file(at: text)
      return
    }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard let url = URL(string: text) else { throw ValidationError("\(text) is not a URL: check its spelling") }
    switch scheme {
    case "http", "https": self.init(url)
    case "file": self = .file(at: url.path)
    default:
      throw ValidationError("\(text): \(scheme) URLs are not read; give an http or https URL, or a path")
    }
  }
}

extension ImageFormat {
  /// The format that the end of a file's name promises and that no thumbnail is written in. Nil for any other name.
  fileprivate init?(otherThanOutput fileExtension: String) {
    let aliases = ["tif": Self.tiff, "heic": .heif]
    guard let format = aliases[fileExtension] ?? Self(rawValue: fileExtension),
      OutputFormat(rawValue: format.rawValue) == nil
    else { return nil }
    self = format
  }
}
