package import Exports
public import ThumbnailCore
package import Thumbnailer

extension FolderConverter {
  /// The options of a conversion.
  public struct Options: Sendable {
    /// Files, folders, and lists of these.
    public var inputs: [Input]
    /// The output folder; created if it is missing.
    public var output: RawPath

    /// The sizes: one thumbnail of each image for each of them. Default: one of 400×400.
    public var sizes = [TargetSize(PixelSize(400, 400))]
    /// How an image fits a size. Default: `contain`.
    public var fit = Fit.contain
    /// The part that `cover` keeps. Default: the centre.
    package var gravity = Gravity.centre
    /// Whether an image smaller than the size is upscaled. Default: false.
    public var enlarges = false
    /// The thumbnails' format. Default: `auto`, which is JPEG, or WebP for images with transparency.
    public var format = OutputFormat.auto
    /// The encoder's quality, 1 to 100. Default: 80.
    public var quality = 80
    /// The background for transparent parts; nil keeps transparency if the format supports it.
    public var background: RGBColor?
    /// The metadata that are kept. Default: none.
    package var metadata = MetadataPolicy.none
    /// The frames of animated images that are used. Default: the first.
    package var frames = FrameSelection.first
    /// The naming template. Nil: `{path}/{name}.{ext}`, or with several sizes `{path}/{name}-{size}.{ext}`. Name
    /// collisions are then resolved with the images' own extensions, `IMG_1.heic.jpg` and `IMG_1.jpg.jpg`, or if these
    /// are equal with a hash of the path. With a template, collisions are an error.
    package var name: NamingTemplate?

    /// Only files that match one of these are converted, with any extension. Empty: all files with an extension of an
    /// image.
    package var include: [GlobPattern] = []
    /// Files and folders that match one of these are left out.
    package var exclude: [GlobPattern] = []
    /// Whether symbolic links within folders are followed. Links named as inputs always are. Default: false.
    package var followsLinks = false
    /// The handling of a picture that exists both as RAW or HEIC and as JPEG. Default: two pictures.
    package var pairing = Pairing.none
    /// Whether names in lists are terminated by zero bytes instead of line feeds. Default: false.
    package var listsAreNullSeparated = false

    /// How up-to-date thumbnails are recognised.
    package enum Freshness: Sendable {
      /// By the index: the source's modification time and length, and the options.
      case index
      /// Never: everything is converted again.
      case never
    }

    /// How up-to-date thumbnails are recognised. Default: by the index.
    package var freshness = Freshness.index
    /// Whether nothing is written, and stale inputs are reported as `skipped`. Default: false.
    public var isDryRun = false

    /// The pipeline's settings: concurrent decodes, memory budget, limits, isolation. Its caches are not used. Default:
    /// the pipeline's own, without a limit on the length of a file.
    package var pipeline = Self.standardPipeline

    /// The defaults for these inputs and this folder.
    public init(inputs: [Input], output: RawPath) {
      (self.inputs, self.output) = (inputs, output)
    }

    /// The defaults for these inputs and this folder.
    public init(inputs: [Input], output: String) {
      self.init(inputs: inputs, output: RawPath(output))
    }

    /// The defaults for the thumbnails that all programs of the desktop share: see `DesktopFolder`.
    ///
    /// - Parameter folder: `thumbnails` in the user's cache folder.
    public static func desktop(_ inputs: [Input], in folder: RawPath) -> Options {
      var options = Options(inputs: inputs, output: folder)
      options.desktop = DesktopFolder(path: folder)
      options.sizes = DesktopPicture.sizes.map { TargetSize(PixelSize($0.side, $0.side)) }
      options.format = .png
      return options
    }

    /// Whether the thumbnails are those that all programs of the desktop share.
    package var isOfDesktop: Bool { desktop != nil }

    /// The desktop's folder, if the thumbnails are written to that.
    private(set) var desktop: DesktopFolder?

    /// What a site has beside its thumbnails; nil if the output is none.
    package var site: (title: String, copiesOriginals: Bool)?

    /// The input folders without any entry, whose disks may be gone.
    package var emptyFolders: [RawPath] {
      inputs.compactMap { if case .path(let path) = $0, path.isEmptyFolder { path.resolved } else { nil } }
    }

    /// A message that says why the values are invalid and what to do; nil if they are valid.
    var problem: String? {
      if inputs.isEmpty { return "nothing to convert: name files or folders" }
      if output.bytes.isEmpty { return "the output folder's name is empty" }
      if sizes.isEmpty { return "no size is given" }
      if fit != .contain, let open = sizes.first(where: \.isOpen) {
        return "the size \(open) leaves a side open, which \(fit.rawValue) cannot fill; give both, such as 400x300"
      }
      if inputs.filter({ $0 == .standardInput }).count > 1 { return "the standard input can be read only once" }
      return variants.lazy.compactMap(\.problem).first
    }

    /// The variants of each image.
    var variants: [Variant] {
      sizes.map { size in
        Variant(
          size: size.box, fit: fit, gravity: gravity, format: format, quality: quality,
          background: background, enlarges: enlarges, metadata: metadata, frames: frames)
      }
    }

    /// A short text that changes with all options that affect the thumbnails.
    var token: String {
      let digest = NamingTemplate.digest(Array(variants.map(\.token).joined(separator: "|").utf8))
      return NamingTemplate.hex(digest)
    }

    /// Without caches, since the thumbnails are written to files.
    private static var standardPipeline: ThumbnailPipeline.Configuration {
      var configuration = ThumbnailPipeline.Configuration()
      configuration.memoryCacheLimit = ByteSize(bytes: 0)
      configuration.diskCacheLimit = ByteSize(bytes: 0)
      configuration.partialDownloadLimit = ByteSize(bytes: 0)
      // A user's own file is not refused for its length: the memory for decoding it is bounded by the budget.
      configuration.maximumSourceBytes = .gibibytes(1 << 20)
      return configuration
    }

    /// The file name extensions of the readable formats, in lower case.
    var pictureExtensions: Set<[UInt8]> {
      Set(pipeline.readableFormats.flatMap(\.fileExtensions).map { Array($0.utf8) })
    }

    /// The pipeline that makes the thumbnails.
    func makePipeline() throws(ConversionError) -> ThumbnailPipeline {
      do throws(ThumbnailError) {
        return try openPipeline()
      } catch {
        throw .invalidOption(reason: error.message)
      }
    }

    func openPipeline() throws(ThumbnailError) -> ThumbnailPipeline {
      var configuration = pipeline
      let none = Self.standardPipeline
      configuration.memoryCacheLimit = none.memoryCacheLimit
      configuration.diskCacheLimit = none.diskCacheLimit
      configuration.partialDownloadLimit = none.partialDownloadLimit
      configuration.makesPlaceholders = false
      // Nothing is looked up in caches that are empty.
      configuration.cacheMode = .noStore
      // Nothing is downloaded, so decodes can have the memory for bodies.
      configuration.downloads = 1
      return try ThumbnailPipeline(configuration)
    }
  }
}
