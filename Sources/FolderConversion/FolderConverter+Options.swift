public import Exports
public import ThumbnailCore
public import Thumbnailer

extension FolderConverter {
  /// Everything that can be set about a conversion.
  public struct Options: Sendable {
    /// Files, folders and lists of them.
    public var inputs: [Input]
    /// The folder that the thumbnails go to; made when it is not there.
    public var output: RawPath

    /// The thumbnails of each picture, one for each size. Default: one of 400×400.
    public var sizes = [TargetSize(PixelSize(400, 400))]
    /// How a picture is laid into a size. Default: `contain`.
    public var fit = Fit.contain
    /// What `cover` keeps. Default: the middle.
    public var gravity = Gravity.centre
    /// Whether a picture smaller than the size is enlarged to it. Default: false.
    public var enlarges = false
    /// How much is decoded. Default: `fast`.
    public var scaling = Scaling.fast
    /// The thumbnails' format. Default: `auto`, which is JPEG, or WebP for pictures with transparent parts.
    public var format = OutputFormat.auto
    /// The encoder's quality, 1 to 100. Default: 80.
    public var quality = 80
    /// What shows through transparent parts; nil keeps them where the format can.
    public var background: RGBColor?
    /// How hard the encoder tries to write few bytes, from 0, the fastest, to 9. Nil: as hard as pays for most.
    public var effort: Int?
    /// What of the pictures' metadata is kept. Default: nothing.
    public var metadata = MetadataPolicy.none
    /// Which frames of animated pictures are shown. Default: the first.
    public var frames = FrameSelection.first
    /// How the thumbnails are named. Nil: `{path}/{name}.{ext}`, or with several sizes `{path}/{name}-{size}.{ext}`.
    /// Pictures that would write one file are told apart by their own extensions, `IMG_1.heic.jpg` and
    /// `IMG_1.jpg.jpg`, and where these are the same by a hash of their paths. With a template they are an error.
    public var name: NamingTemplate?

    /// Whether folders are searched with all folders in them. Default: true.
    public var isRecursive = true
    /// Only what one of these fits is taken, whatever the ends of the names. Empty: files that are named like pictures.
    public var include: [GlobPattern] = []
    /// What one of these fits is left out, folders with all that is in them.
    public var exclude: [GlobPattern] = []
    /// Whether files and folders whose names begin with a dot are taken. Default: false.
    public var includesHidden = false
    /// Whether links within folders are followed. Links that are named as inputs always are. Default: false.
    public var followsLinks = false
    /// Whether the names in lists are ended by zero bytes rather than by line feeds. Default: false.
    public var listsAreNullSeparated = false

    /// How it is told that a picture's thumbnails are up to date.
    public enum Freshness: Sendable {
      /// By the index: the source's time and length, the options and the encoder's version.
      case index
      /// By time alone: the thumbnails are there and not older than the source.
      case modificationTime
      /// Never: all is made anew.
      case never
    }

    /// How it is told that a picture's thumbnails are up to date. Default: by the index.
    public var freshness = Freshness.index
    /// Whether thumbnails get their sources' times of access and modification. Default: false.
    public var preservesTimes = false
    /// Whether the first failure ends the run. Default: false.
    public var failsFast = false
    /// Whether nothing is written, and what would be made is told as `skipped`. Default: false.
    public var isDryRun = false

    /// How the pictures are read: decodes at once, memory budget, limits, isolation. Its caches are not used. Default: the
    /// pipeline's own, without a limit to the length of a file.
    public var pipeline = Self.standardPipeline

    /// The defaults for these inputs and this folder.
    public init(inputs: [Input], output: RawPath) {
      (self.inputs, self.output) = (inputs, output)
    }

    /// The defaults for these inputs and this folder.
    public init(inputs: [Input], output: String) {
      self.init(inputs: inputs, output: RawPath(output))
    }

    /// What is wrong with the values, in words that say what to do; nil when they are fine.
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

    /// The thumbnails of each picture.
    var variants: [Variant] {
      sizes.map { size in
        Variant(
          size: size.box, fit: fit, gravity: gravity, format: format, quality: quality, scaling: scaling,
          background: background, enlarges: enlarges, effort: effort, metadata: metadata, frames: frames)
      }
    }

    /// A short text that changes whenever the thumbnails would: with the options, and with the encoder's version.
    var token: String {
      let digest = NamingTemplate.digest(Array(variants.map(\.token).joined(separator: "|").utf8))
      return NamingTemplate.hex(digest) + (preservesTimes ? "t" : "")
    }

    /// Without caches, for whatever is made goes to its file.
    private static var standardPipeline: ThumbnailPipeline.Configuration {
      var configuration = ThumbnailPipeline.Configuration()
      configuration.memoryCacheLimit = ByteSize(bytes: 0)
      configuration.diskCacheLimit = ByteSize(bytes: 0)
      configuration.partialDownloadLimit = ByteSize(bytes: 0)
      // A user's own file is not refused for its length: what its decoding takes is bounded by the budget.
      configuration.maximumSourceBytes = .gibibytes(1 << 20)
      return configuration
    }

    /// The ends of names of the formats that can be read, in lower case.
    var pictureExtensions: Set<[UInt8]> {
      Set(pipeline.readableFormats.flatMap(\.fileExtensions).map { Array($0.utf8) })
    }

    /// The pipeline that makes the thumbnails.
    func makePipeline() throws(ConversionError) -> ThumbnailPipeline {
      var configuration = pipeline
      let none = Self.standardPipeline
      configuration.memoryCacheLimit = none.memoryCacheLimit
      configuration.diskCacheLimit = none.diskCacheLimit
      configuration.partialDownloadLimit = none.partialDownloadLimit
      // Nothing is downloaded, so the memory for bodies is better with the decodes.
      configuration.downloads = 1
      do throws(ThumbnailError) {
        return try ThumbnailPipeline(configuration)
      } catch {
        throw .invalidOption(reason: error.message)
      }
    }
  }
}
