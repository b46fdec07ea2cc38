import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs get`: one picture through the pipeline, into a file.
struct GetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Makes the thumbnail of one picture.",
    discussion: """
      Example:
        thumbs get https://example.org/photo.jpg --size 400x300 --output photo-small.jpg
        thumbs get photo.heic --size 800x800 --fit contain --output - > small.jpg

      Without --format, the end of the output's name decides.
      """)

  @Argument(help: ArgumentHelp("The picture: an http or https URL, or a path.", valueName: "URL|PATH"))
  var picture: String

  @Option(name: .shortAndLong, help: ArgumentHelp("Where the thumbnail goes; - is stdout.", valueName: "FILE|-"))
  var output: String

  @OptionGroup(title: "Thumbnail") var thumbnail: ThumbnailOptions
  @OptionGroup(title: "Resources") var pipeline: PipelineOptions

  @Flag(name: .shortAndLong, help: "Log what happens at each stage, on stderr.")
  var verbose = false

  func validate() throws {
    if thumbnail.sizes.count > 1 { throw ValidationError("get makes one thumbnail: give --size once.") }
    if output.isEmpty { throw ValidationError("--output is empty: name a file, or - for stdout.") }
    if picture.isEmpty { throw ValidationError("The picture's name is empty: give a URL or a path.") }
  }

  func run() async throws {
    Logs.start(verbose: verbose)
    let console = Console()
    let interruption = Interruption()
    let request = ThumbnailRequest(try ImageSource(commandLine: picture), variant: variant)
    let pipeline = try ThumbnailPipeline(self.pipeline.configuration)
    if let problem = pipeline.cacheProblem { console.complain("\(problem); going on without the disk cache") }
    do {
      let thumbnail = try await interruption.cancelling { try await pipeline.thumbnail(for: request) }
      await pipeline.flush()
      try write(thumbnail, console: console)
    } catch let error as ThumbnailError {
      if interruption.signal != nil { throw ExitCode.interrupted }
      console.complain("\(picture): \(error.message)")
      throw ExitCode.someFailed
    }
  }

  /// What was asked for, with the output's name deciding the format where nothing else does.
  private var variant: Variant {
    var variant = thumbnail.variants[0]
    if variant.format == .auto {
      switch URL(fileURLWithPath: output).pathExtension.lowercased() {
      case "jpg", "jpeg": variant.format = .jpeg
      case "png": variant.format = .png
      case "webp": variant.format = .webp
      case "avif": variant.format = .avif
      default: break
      }
    }
    return variant
  }

  private func write(_ thumbnail: Thumbnail, console: Console) throws {
    do {
      if output == "-" {
        try console.print(bytes: thumbnail.data)
      } else {
        try thumbnail.data.write(to: URL(fileURLWithPath: output), options: .atomic)
      }
    } catch Console.WriteError.closed {
      throw ExitCode.cannotWrite
    } catch {
      let reason = (error as? Console.WriteError)?.reason ?? (error as NSError).plainReason
      console.complain("\(output): cannot be written: \(reason); choose another --output")
      throw ExitCode.cannotWrite
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
    guard let url = URL(string: text) else { throw ValidationError("\(text) is not a URL: check its spelling.") }
    switch scheme {
    case "http", "https": self.init(url)
    case "file": self = .file(at: url.path)
    default:
      throw ValidationError("\(text): \(scheme) is not read; give an http or https URL, or a path.")
    }
  }
}
