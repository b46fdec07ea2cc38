public import ThumbnailCore

/// Makes thumbnails of files and whole folders, into a folder.
///
/// What is up to date is left as it is, so a run that was interrupted goes on where it stopped. Thumbnails appear under
/// their names only when they are complete.
///
///     var options = FolderConverter.Options(inputs: [.path("photos")], output: "small")
///     options.sizes = [TargetSize(PixelSize(400, 400))]
///     let conversion = try await FolderConverter(options).start()
///     for await result in conversion { print(result.source, result.status) }
///     let summary = await conversion.finish()
public struct FolderConverter: Sendable {
  /// Where pictures come from.
  public enum Input: Hashable, Sendable {
    /// A file, or a folder with all that is in it.
    case path(RawPath)
    /// A file that holds the names of files and folders, one a line or ended by zero bytes.
    case list(RawPath)
    /// Names on the standard input, one a line or ended by zero bytes.
    case standardInput

    /// A file or folder of this path.
    public static func path(_ text: String) -> Input { .path(RawPath(text)) }
  }

  /// What to do.
  public let options: Options

  /// A converter of these options. Nothing happens before `start()`.
  public init(_ options: Options) { self.options = options }

  /// Finds all inputs, tells apart those that would write one file, and takes hold of the output folder.
  ///
  /// Nothing is written before all that is done, and no picture is read. Listing takes about a microsecond for each file.
  ///
  /// - Throws: `ConversionError`, with nothing written.
  public func start() async throws(ConversionError) -> Conversion {
    if let problem = options.problem { throw .invalidOption(reason: problem) }
    return try await Conversion.start(options)
  }
}
