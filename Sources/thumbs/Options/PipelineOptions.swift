import ArgumentParser
import Foundation
import ThumbnailCore
import Thumbnailer

/// The location of the cache, and resource limits.
struct PipelineOptions: ConfigurationOptions {
  @OptionGroup var cache: CacheOptions

  @Option(
    help: ArgumentHelp("Downloads at once, not counting silent ones. (default: 16, in serve 64)", valueName: "N"))
  var downloads: Int?

  @Option(
    help: ArgumentHelp(
      "Downloads at once from one host, not counting silent ones; less than 6 counts them, too. (default: 6)",
      valueName: "N"))
  var perHost: Int?

  @OptionGroup var decoding: DecodeOptions

  @Option(
    help: ArgumentHelp(
      """
      The memory cache's limit. (default: 64MiB, or an eighth of the memory if less; in a prefetch 4MiB)
      """, valueName: "SIZE"),
    transform: ByteSize.option)
  var memoryCache: ByteSize?

  @Option(
    help: ArgumentHelp(
      "What the beginnings of large pictures whose download broke off may take; 0 keeps none. (default: 512MiB)",
      valueName: "SIZE"), transform: ByteSize.option)
  var partialDownloads: ByteSize?

  @Option(
    help: ArgumentHelp("The longest file that is downloaded. (default: 256MiB)", valueName: "SIZE"),
    transform: ByteSize.option)
  var maxBytes: ByteSize?

  @Option(
    help: ArgumentHelp(
      """
      Whether no more of a progressive JPEG, a HEIC or a RAW file is downloaded than the thumbnails need. Damage in \
      the rest of the file then goes unnoticed.
      """, valueName: "on|off"))
  var earlyStop = Toggle.on

  func validate() throws {
    try OptionCheck.count("--downloads", downloads, atMost: 1024)
    try OptionCheck.count("--per-host", perHost, atMost: 1024)
    try OptionCheck.count("--max-bytes", maxBytes?.bytes)
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    cache.apply(to: &configuration)
    decoding.apply(to: &configuration)
    configuration.earlyStop = earlyStop == .on
    if let memoryCache { configuration.memoryCacheLimit = memoryCache }
    if let partialDownloads { configuration.partialDownloadLimit = partialDownloads }
    if let downloads { configuration.downloads = downloads }
    if let perHost { configuration.downloadsPerHost = perHost }
    if let maxBytes { configuration.maximumSourceBytes = maxBytes }
  }
}

/// What decodes may take, and how images are read: for all commands that make thumbnails.
struct DecodeOptions: ConfigurationOptions {
  @Option(
    help: ArgumentHelp("Decodes at once; in serve, those of one client. (default: one for each core)", valueName: "N"))
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "What all work in flight may take together. (default: 512MiB, or what the cgroup or machine has if less)",
      valueName: "SIZE"), transform: ByteSize.option)
  var memoryBudget: ByteSize?

  @Option(help: ArgumentHelp("The most pixels a picture may have. (default: 268435456)", valueName: "N"))
  var maxPixels: Int?

  @Option(
    help: ArgumentHelp(
      """
      Whether small thumbnails may be made of those that are in the file. auto: of a HEIC's, if it looks like tiles all \
      over the picture. on: also those that cannot be compared in this way, of a HEIC in one piece or in a JPEG's EXIF data; \
      what was changed in the picture later may not show.
      """, valueName: "auto|on|off"))
  var previews = PreviewUse.auto

  @Option(
    help: """
      What becomes of truncated and damaged pictures: accept shows what can be read of them, the rest in grey, and \
      reports say so.
      """)
  var damaged = DamagePolicy.refuse

  func validate() throws {
    try OptionCheck.count("--jobs", jobs, atMost: 256)
    try OptionCheck.count("--max-pixels", maxPixels)
    try OptionCheck.size("--memory-budget", memoryBudget, atLeastMebibytes: 16)
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    (configuration.previews, configuration.damaged) = (previews, damaged)
    if let jobs { configuration.jobs = jobs }
    if let memoryBudget { configuration.memoryBudget = memoryBudget }
    if let maxPixels { configuration.maximumPixels = maxPixels }
  }
}

/// The location and the size limit of the disk cache.
struct CacheOptions: ConfigurationOptions {
  @Option(
    help: ArgumentHelp(
      "The disk cache's folder. (default: thumbs in $XDG_CACHE_HOME or ~/.cache)", valueName: "DIR"))
  var cacheDir: String?

  @Option(
    help: ArgumentHelp("The disk cache's limit; 0 turns it off. (default: 1GiB)", valueName: "SIZE"),
    transform: ByteSize.option)
  var diskCache: ByteSize?

  func validate() throws {
    try OptionCheck.notEmpty("--cache-dir", cacheDir, "a folder")
    // The cache shrinks to the limit at once: a forgotten unit must not delete nearly everything.
    if let diskCache, diskCache.bytes > 0, diskCache < .mebibytes(1) {
      throw ValidationError("--disk-cache \(diskCache) is too little to be meant: give at least 1MiB, or 0 for none")
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
