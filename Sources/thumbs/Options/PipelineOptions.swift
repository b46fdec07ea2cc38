import ArgumentParser
import DecodeSandbox
import Foundation
import ThumbnailCore
import Thumbnailer

/// Options that become values of a pipeline's configuration.
protocol ConfigurationOptions: ParsableArguments {
  /// Sets the values that are given.
  func apply(to configuration: inout ThumbnailPipeline.Configuration) throws
}

extension ThumbnailPipeline.Configuration {
  /// A configuration with these options applied. Says what the machine lacks to confine helpers.
  init(_ options: any ConfigurationOptions..., from defaults: Self = Self()) throws {
    self = defaults
    for group in options { try group.apply(to: &self) }
    if let problem = guardBypass() { throw ValidationError(Advice.withOptions(problem)) }
    guard !isolation.isInProcess, !isolation.requiresConfinement else { return }
    for gap in DecodeIsolation.gapsOfThisMachine { Console.standard.complain("\(gap)") }
  }
}

/// The location of the cache, and the limits of downloads and decodes.
struct PipelineOptions: ConfigurationOptions {
  @OptionGroup var cache: CacheOptions
  @OptionGroup var downloading: DownloadOptions
  @OptionGroup var decoding: DecodeOptions

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    cache.apply(to: &configuration)
    downloading.apply(to: &configuration)
    decoding.apply(to: &configuration)
  }
}

/// How much is downloaded at once.
struct DownloadOptions: ConfigurationOptions {
  @Option(
    "N", "Downloads at once, not counting silent ones. (default: 16, in serve 64; at least --per-host's)",
    .within(1...1024))
  var downloads: Int?

  @Option(
    "N", "Downloads at once from one host, not counting silent ones; less than 6 counts them, too. (default: 6)",
    .within(1...1024))
  var perHost: Int?

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    if let perHost { configuration.downloadsPerHost = perHost }
    configuration.downloads = downloads ?? max(configuration.downloads, perHost ?? 1)
  }
}

/// The longest download: for single pictures, servers and engines.
struct DownloadLimitOption: ConfigurationOptions {
  @Option("SIZE", "The longest file that is downloaded. (default: 256MiB)", .atLeast(ByteSize(bytes: 1), "1"))
  var maxBytes: ByteSize?

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    if let maxBytes { configuration.maximumSourceBytes = maxBytes }
  }
}

/// The memory of a run: for those that share a machine.
struct MemoryOption: ConfigurationOptions {
  @Option(
    "SIZE",
    "The memory of all work in flight; each helper may take as much besides, at least 1GiB or five eighths of the memory. "
      + "(default: 512MiB, or what the cgroup or machine has if less)",
    .atLeast(.mebibytes(16), "16MiB"))
  var memoryBudget: ByteSize?

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    guard let memoryBudget else { return }
    configuration.memoryBudget = memoryBudget
    configuration.isolation.memoryLimit = max(configuration.isolation.memoryLimit, memoryBudget)
  }
}

/// The memory cache: for servers.
struct MemoryCacheOption: ConfigurationOptions {
  @Option("SIZE", "The memory cache's limit. (default: 64MiB, or an eighth of the memory if less)")
  var memoryCache: ByteSize?

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    if let memoryCache { configuration.memoryCacheLimit = memoryCache }
  }
}

/// The use of previews within pictures.
struct PreviewOption: ConfigurationOptions {
  @Option(
    help: ArgumentHelp(
      """
      Whether small thumbnails may be made from the thumbnail in a HEIC, if it looks like tiles spread over the picture.
      """, valueName: "auto|off"))
  var previews = PreviewUse.auto

  func apply(to configuration: inout ThumbnailPipeline.Configuration) { configuration.previews = previews }
}

/// The limits of decodes: for all commands that make thumbnails.
struct DecodeOptions: ConfigurationOptions {
  @Option(
    "N", "Pictures decoded at the same time; in serve, for one client. (default: one for each core)", .within(1...256))
  var jobs: Int?

  @Option("N", "The most pixels a picture may have. (default: 268435456)", .atLeast(1))
  var maxPixels: Int?

  @Option(
    help: """
      Whether truncated and damaged pictures are errors: accept shows their readable part, with the rest in grey, and \
      reports mark them.
      """)
  var damaged = DamagePolicy.refuse

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    configuration.damaged = damaged
    if let jobs { configuration.jobs = jobs }
    if let maxPixels { configuration.maximumPixels = maxPixels }
  }
}

/// The location and the size limit of the disk cache.
struct CacheOptions: ConfigurationOptions {
  @Option("DIR", "The disk cache's folder. (default: thumbs in $XDG_CACHE_HOME or ~/.cache)", .naming("a folder"))
  var cacheDir: String?

  @Option("SIZE", "The disk cache's limit; 0 turns it off. (default: 1GiB)")
  var diskCache: ByteSize?

  func validate() throws {
    // The cache shrinks to the limit at once: a forgotten unit must not delete nearly everything.
    if let diskCache, diskCache.bytes > 0, diskCache < .mebibytes(1) {
      throw ValidationError("--disk-cache \(diskCache) is too little: give at least 1MiB, or 0 for none")
    }
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    configuration.cacheDirectory = directory
    if let diskCache { configuration.diskCacheLimit = diskCache }
  }

  /// The given folder, or the library's default.
  var directory: URL {
    cacheDir.map { URL(fileURLWithPath: $0, isDirectory: true) }
      ?? ThumbnailPipeline.Configuration.standardCacheDirectory()
  }
}
