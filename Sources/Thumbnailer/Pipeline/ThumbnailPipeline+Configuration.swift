public import DecodeSandbox
public import Foundation
public import HTTPTransport
import ImageCodec
public import ThumbnailCore

extension ThumbnailPipeline {
  /// The version of the library, as `thumbs --version` prints it.
  public static let version = "0.1.0"

  /// Everything that can be set about a pipeline. The defaults suit a desktop machine.
  public struct Configuration: Sendable {
    /// The folder of the disk cache. Several processes may share it; it should not be on a network file system, for
    /// which SQLite's write-ahead log is not made. Default: `thumbs` in the user's cache folder
    /// (`$XDG_CACHE_HOME` or `~/.cache`).
    public var cacheDirectory: URL
    /// The most that thumbnails in the memory cache take together. Default: 64 MiB, or an eighth of the memory that the
    /// cgroup or the machine has if that is less.
    public var memoryCacheLimit = ByteSize(bytes: MemoryBudget.defaultMemoryCache())
    /// The most that thumbnails in the disk cache take together; the files stay under 1.1 times that. 0 turns the disk
    /// cache off. Default: 1 GiB.
    public var diskCacheLimit = ByteSize.gibibytes(1)
    /// The most that the beginnings of large pictures take whose download broke off, in the cache's folder. The next
    /// download of the picture goes on from there, where the server takes ranges and the picture is the same. They are
    /// kept for a week at most. 0 keeps none. Default: 512 MiB.
    public var partialDownloadLimit = ByteSize.mebibytes(512)
    /// The most that all work in flight takes together, bodies and decodes, beyond the program itself and the memory
    /// cache. At least 16 MiB. Default: 512 MiB, or what the cgroup's or the machine's memory leaves beside the program
    /// (32 MiB) and the memory cache if that is less.
    ///
    /// A picture that takes more is decoded alone: in a helper within `isolation.memoryLimit`, if one is configured; else
    /// in process, with up to 1 GiB, but only where this is left at its default. Either way only in memory that is free at
    /// that moment.
    public var memoryBudget: ByteSize {
      get { chosenMemoryBudget ?? ByteSize(bytes: MemoryBudget.defaultTotal(memoryCache: memoryCacheLimit.bytes)) }
      set { chosenMemoryBudget = newValue }
    }
    /// The budget that was set; nil where it is left to us.
    private(set) var chosenMemoryBudget: ByteSize?
    /// What is free of the memory at a moment, in bytes; tests have their own.
    var freeMemory: @Sendable () -> Int? = { MachineMemory.available() }
    /// Downloads at once. Default: 16. A download that brings nothing for a second, or less where its host is quick
    /// otherwise, lends its place to the next: up to 32 such stand beside these.
    public var downloads = 16
    /// Downloads at once from one host. Default: 6. Where this, `downloads` or what a photo service asks for is less than
    /// 6, nothing is lent there: a silent download is stopped after five seconds and tried again after the others.
    public var downloadsPerHost = 6
    /// When the slots of silent downloads go to others; tests have their own rules.
    var lending = LendingRules()
    /// Decodes at once. Default: one for each active core.
    public var jobs = ProcessInfo.processInfo.activeProcessorCount
    /// The longest body that is downloaded, in bytes. Default: 256 MiB.
    public var maximumSourceBytes = ByteSize.mebibytes(256)
    /// The most pixels a picture may have. Default: 268,435,456 (2²⁸: 16384 × 16384).
    public var maximumPixels = 1 << 28
    /// What becomes of truncated and damaged pictures. What is made of one stays out of the disk cache, so that it is never
    /// taken for whole later. A download that breaks off is an error in any case. Default: `refuse`.
    public var damaged = DamagePolicy.refuse
    /// Which pictures are decoded in a process of their own. Default: none; SVG, PDF and other formats that can crash or
    /// hang their decoder are refused.
    public var isolation = DecodeIsolation.none
    /// Whether the download of a progressive JPEG ends once the scans have come that the thumbnails asked for need: often
    /// a tenth of the file. Over HTTP/1.1 that closes the connection, unless little is left. A debug build of this library downloads
    /// the whole file: there libvips reads JPEGs. Default: true.
    public var earlyStop = true
    /// Whether small thumbnails are made of the preview that cameras put into a JPEG's EXIF data, where it is large
    /// enough, of the picture's aspect and orientation, and alike in the picture's first rows. Only the beginning of the
    /// file is read then. What an editor changed further down, and did not change in the preview, is not seen; and previews
    /// are of low quality. What was made so stays in the cache. Default: false.
    public var previews = false
    /// When a stored thumbnail is taken for good, and when its server is asked whether the picture has changed.
    /// Default: as the server said.
    public var cacheMode = CacheMode.standard
    /// Whether pictures that were not to be had are asked for all the same. Otherwise it is remembered which of them do
    /// not exist (404, 410) or are no pictures, for an hour, and which are too large, for a day or until a limit is
    /// raised; for less where the server says so (`Cache-Control`, `Expires`). Default: false.
    public var retriesFailures = false
    /// Whether JPEGs are read by the coefficient reader where that is enough. Otherwise libvips reads them, which takes
    /// all of a file. Tests, which are debug builds, turn it on.
    var readsCoefficients = CoefficientReader.isWorthwhile
    /// How hosts are left alone; tests have them come back sooner.
    var hosts = HostStates.Policy()
    /// The clock on the wall; tests have their own.
    var now: @Sendable () -> Date = { Date() }
    /// Until a connection stands. Default: 10 s.
    public var connectTimeout = Duration.seconds(10)
    /// How long a transfer may bring nothing. Default: 20 s.
    public var stallTimeout = Duration.seconds(20)
    /// How long all attempts at one download and the pauses between them may take together. Default: 300 s.
    public var totalTimeout = Duration.seconds(300)
    /// Attempts at one download, the first included. Default: 4.
    public var attempts = 4
    /// How long this pipeline waits in all for hosts that ask to be left alone for a while (429, or 503 with
    /// `Retry-After`) or have failed several times in a row. Pauses that overlap count once. What would have to wait longer
    /// fails at once, with `rateLimited` or `hostClosed`; or what is stored stands in. Good for a prefetch, not where
    /// somebody looks on. Default: 0.
    public var maximumWait = Duration.zero
    /// What a server must send at least, in bytes a second, on average over 20 seconds; one that sends less has failed. The
    /// last attempt at a large picture goes on as long as anything comes. 0 is content with anything. Default: 1,000.
    public var minimumRate = ByteSize(bytes: 1000)
    /// What servers see as `User-Agent`; default `thumbs/VERSION libcurl/VERSION`. Name a contact in it when you ask for
    /// many pictures.
    public var userAgent = "thumbs/\(ThumbnailPipeline.version) \(CurlLibrary.name)"
    /// A file with the certificate authorities to trust, in PEM form, instead of the system's.
    public var certificateAuthorityFile: String?
    /// Which proxy is used. Default: as the environment says (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`).
    public var proxy = ProxyChoice.environment
    /// The certificates to show to hosts that ask for one. They do not keep pictures apart in the cache: use a cache
    /// folder of its own for each identity. Default: none.
    public var clientCertificates: [ClientCertificate] = []

    /// The defaults, with another folder for the disk cache where one is given.
    public init(cacheDirectory: URL? = nil) {
      self.cacheDirectory = cacheDirectory ?? Self.standardCacheDirectory()
    }

    /// `thumbs` in the user's cache folder, as the XDG base directory specification says.
    public static func standardCacheDirectory(
      environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URL {
      let base: URL
      if let path = environment["XDG_CACHE_HOME"], path.hasPrefix("/") {
        base = URL(fileURLWithPath: path, isDirectory: true)
      } else {
        let home = environment["HOME"].map { URL(fileURLWithPath: $0, isDirectory: true) }
        base = (home ?? FileManager.default.homeDirectoryForCurrentUser).appendingPathComponent(".cache")
      }
      return base.appendingPathComponent("thumbs", isDirectory: true)
    }

    /// Where the beginnings of pictures are kept.
    static func partialDownloads(in cacheDirectory: URL) -> URL {
      cacheDirectory.appendingPathComponent("partial", isDirectory: true)
    }

    /// The formats of local files that a pipeline so configured decodes, as far as libvips can read them.
    public var readableFormats: Set<ImageFormat> {
      let admitsAll = isolation.admitsUnsafe(isUserFile: true)
      return Set(ImageFormat.allCases.filter { admitsAll || $0.isReadInProcess })
    }

    /// What is wrong with the values, in words that say what to do; nil when they are fine.
    var problem: String? {
      if !(1...1024).contains(downloads) { return "downloads must be from 1 to 1024" }
      if !(1...1024).contains(downloadsPerHost) { return "downloads per host must be from 1 to 1024" }
      if !(1...256).contains(jobs) { return "jobs must be from 1 to 256" }
      for size in [memoryCacheLimit, diskCacheLimit, partialDownloadLimit, memoryBudget, maximumSourceBytes]
      where size.bytes > 1 << 50 {
        return "a size of \(size) cannot be used; the most is 1024 TiB"
      }
      if let problem = isolation.problem { return problem }
      if case .maximumAge(let age) = cacheMode, age < .zero { return "the maximum age must not be negative" }
      if maximumWait < .zero { return "the longest wait must not be negative" }
      if attempts < 1 { return "attempts must be at least 1" }
      if maximumPixels < 1 { return "the pixel limit must be at least 1" }
      if maximumSourceBytes.bytes < 1 { return "the byte limit of a picture must be at least 1" }
      if memoryBudget.bytes < MemoryBudget.minimum {
        return "the memory budget must be at least \(ByteSize(bytes: MemoryBudget.minimum))"
      }
      return nil
    }
  }
}
