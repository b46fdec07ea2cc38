// The module FolderConversion: converts folders of images, again only where something changed.

public import ThumbnailCore

/// Converts files and whole folders to thumbnails in an output folder.
///
/// Up-to-date thumbnails are kept, so an interrupted run can be resumed. Thumbnails are renamed to their final names
/// only when complete.
///
///     var options = FolderConverter.Options(inputs: [.path("photos")], output: "small")
///     options.sizes = [TargetSize(PixelSize(400, 400))]
///     let conversion = try await FolderConverter(options).start()
///     for await result in conversion { print(result.source, result.status) }
///     let summary = await conversion.finish()
public struct FolderConverter: Sendable {
  /// An input.
  public enum Input: Hashable, Sendable {
    /// A file, or a folder with its content.
    case path(RawPath)
    /// A file that lists names of files and folders, terminated by line feeds or zero bytes.
    case list(RawPath)
    /// A list of names on the standard input, terminated by line feeds or zero bytes.
    case standardInput

    /// The file or folder at this path.
    public static func path(_ text: String) -> Input { .path(RawPath(text)) }
  }

  /// The options.
  public let options: Options

  /// A converter with these options. Nothing happens before `start()`.
  public init(_ options: Options) { self.options = options }

  /// Finds all inputs, resolves name collisions, and locks the output folder.
  ///
  /// Nothing is written before that has succeeded, and no image is read. Listing takes about a microsecond for each
  /// file.
  ///
  /// - Throws: `ConversionError`, with nothing written.
  public func start() async throws(ConversionError) -> Conversion {
    if let problem = options.problem { throw .invalidOption(reason: problem) }
    return try await Conversion.start(options)
  }
}
