import ArgumentParser
import Foundation
import HTTPTransport
import ThumbnailCore
import Thumbnailer

/// `thumbs get`: makes the thumbnail of one image and writes it to a file.
struct GetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Makes the thumbnail of one picture.",
    usage: "thumbs get <URL|PATH|-> [<options>]",
    discussion: """
      Examples:
        thumbs get https://example.org/a.jpg --size 400x300 --output small.jpg
        thumbs get photo.heic --size 800x800 --output - > small.jpg
        thumbs get photo.jpg --size 256x256 --explain
        thumbs get https://example.org/a.jpg --json

      Without --format, the extension of the output decides: .jpg, .png, .webp,
      .avif or .jxl. With --json alone the thumbnail is only cached.

      thumbs get --help-hidden lists all options: cache, limits, network, helpers.
      """)

  @Argument(
    help: ArgumentHelp("An http, https or s3 URL, a path, or - for stdin.", valueName: "URL|PATH|-"),
    completion: .file())
  var picture: String

  @Option(
    "FILE|-", "The file for the thumbnail, which replaces a picture that is no larger alone; - is stdout.",
    name: [.customShort("o"), .customLong("output")], .naming("a file, or - for stdout"))
  var target: String?

  @Flag(help: "Explain how the picture is read and what that costs, without the caches; --output is then optional.")
  var explain = false

  @OptionGroup(title: "Thumbnail") var thumbnail: ThumbnailOptions
  @OptionGroup(title: "Thumbnail") var kept: GravityOption
  @OptionGroup(title: "Thumbnail") var part: CropOptions
  @OptionGroup(title: "Freshness", visibility: .hidden) var freshness: FreshnessOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var cache: CacheOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var decoding: DecodeOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var memory: MemoryOption
  @OptionGroup(title: "Resources", visibility: .hidden) var limit: DownloadLimitOption
  @OptionGroup(title: "Resources", visibility: .hidden) var previews: PreviewOption
  @OptionGroup(title: "Resources", visibility: .hidden) var formats: UnsafeFormatsOption
  @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkOptions
  @OptionGroup(title: "Network", visibility: .hidden) var logins: LoginOption

  @OptionGroup(title: "Report") var reporting: ReportOptions

  var json: Bool { reporting.json }
  var quiet: Bool { reporting.quiet }

  func validate() throws {
    if thumbnail.sizes.count > 1 { throw ValidationError("get makes one thumbnail: give --size once") }
    guard target != nil || explain || json else {
      throw ValidationError("nowhere to put the thumbnail: give --output FILE, or - for stdout")
    }
    if json, target == "-" {
      throw ValidationError("--json and --output - both write to stdout: name a file with --output")
    }
    try checkOneOf([("--explain", explain), ("--offline", freshness.offline)], "it looks past the caches")
    if picture.isEmpty { throw ValidationError("the picture's name is empty: give a URL or a path") }
    if thumbnail.format == .auto, let other = ImageFormat(otherThanOutput: outputExtension) {
      throw ValidationError(
        "--output \(output): \(other.displayName) is not written; name it .jpg, .png, .webp or .avif, or give --format")
    }
  }

  func run() async throws {
    try await VerboseLog.following(reporting.verbose, makeThumbnail)
  }

  /// The name of the output file; empty if there is none.
  var output: String { target ?? "" }

  private var outputExtension: String { URL(fileURLWithPath: output).pathExtension.lowercased() }

  /// The requested variant. The output's extension decides the format unless an option does.
  var variant: Variant {
    var variant = thumbnail.variants(gravity: kept.gravity)[0]
    if variant.format == .auto, let namedFormat { variant.format = namedFormat }
    variant.framing = part.framing(kept.gravity)
    return variant
  }

  /// The format of the output's extension, if any.
  var namedFormat: OutputFormat? {
    OutputFormat(argument: outputExtension).flatMap { [.auto, .same].contains($0) ? nil : $0 }
  }
}

extension ImageSource {
  /// The image on stdin, read into memory until it is longer than what is accepted.
  static func standardInput(mostBytes: Int) throws -> ImageSource {
    let input = Console.standard.input
    if isatty(input) == 1 { throw ValidationError("stdin is a terminal: name a file, or use a pipe") }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while data.count <= mostBytes, case let count = read(input, &buffer, buffer.count), count != 0 {
      if count < 0 { throw CommandFailure(.someFailed, "stdin cannot be read: \(SystemFailure.last.reason)") }
      data += buffer[..<count]
    }
    return .data(data)
  }

  /// The image named on the command line: a URL, or a local file.
  init(commandLine text: String) throws {
    guard let separator = text.range(of: "://") else {
      self = .file(at: RawPath.arguments([text])[0])
      return
    }
    let scheme = text[..<separator.lowerBound].lowercased()
    if scheme == ObjectStorage.scheme {
      let object = SecretVariables.objectStorage?.source(text)
      guard let object else { throw ValidationError(ObjectStorage.advice) }
      self = object
      return
    }
    guard let url = URL(string: text) else {
      throw ValidationError("\(text.withoutSecrets(isAddress: true)) is not a URL: check its spelling")
    }
    switch scheme {
    case "http", "https": self.init(url)
    case "file": self = .file(at: url)
    default:
      throw ValidationError("\(text): \(scheme) URLs are not read; give an http or https URL, or a path")
    }
  }
}

extension ImageFormat {
  /// The format of a file name extension that thumbnails cannot be written in. Nil for any other.
  init?(otherThanOutput fileExtension: String) {
    let aliases = ["tif": Self.tiff, "heic": .heif]
    guard let format = aliases[fileExtension] ?? Self(rawValue: fileExtension),
      OutputFormat(rawValue: format.rawValue) == nil
    else { return nil }
    self = format
  }
}
