public import DecodeSandbox
public import Foundation
public import HTTPTransport
public import ThumbnailCore

extension ThumbnailPipeline {
  /// The version of the library, as `thumbs --version` prints it.
  public static let version = "0.10.0"

  /// The settings of a pipeline. The defaults suit a desktop machine.
  public struct Configuration: Sendable {
    /// The folder of the disk cache. Several processes may share it; it should not be on a network file system, which
    /// SQLite's write-ahead log does not support. Default: `thumbs` in the user's cache folder (`$XDG_CACHE_HOME` or
    /// `~/.cache`).
    public var cacheDirectory: URL
    /// The most bytes of thumbnails in the memory cache. Default: 64 MiB, or an eighth of the memory of the cgroup or
    /// the machine if that is less.
    public var memoryCacheLimit = ByteSize(bytes: MemoryBudget.defaultMemoryCache())
    /// The most bytes of thumbnails in the disk cache; the files stay under 1.1 times that. 0 turns the disk cache off.
    /// Default: 1 GiB.
    public var diskCacheLimit = ByteSize.gibibytes(1)
    /// The most bytes of partially downloaded large images kept in the cache's folder. The next download of the image
    /// resumes from there, if the server supports ranges and the image has not changed. They are kept for a week at
    /// most. 0 keeps none. Default: 512 MiB.
    package var partialDownloadLimit = ByteSize.mebibytes(512)
    /// The most bytes of all work in flight, bodies and decodes, in addition to the program itself and the memory
    /// cache. At least 16 MiB. Default: 512 MiB, or the memory of the cgroup or the machine less the program (32 MiB)
    /// and the memory cache if that is less.
    ///
    /// An image that takes more is decoded alone: within `isolation.memoryLimit`, or in process with up to 1 GiB, but
    /// only if this is left at its default. In both cases only in memory that is free at that moment.
    public var memoryBudget: ByteSize {
      get { chosenMemoryBudget ?? ByteSize(bytes: MemoryBudget.defaultTotal(memoryCache: memoryCacheLimit.bytes)) }
      set { chosenMemoryBudget = newValue }
    }
    /// The budget that was set; nil if the default applies.
    package private(set) var chosenMemoryBudget: ByteSize?
    /// The bytes of the memory budget that are used outside of the pipeline, as by a server.
    package var bytesElsewhere: Int?
    /// Whether decodes have a lower priority than other threads of the process, such as those of a server.
    package var decodesGiveWay = false
    var budget: MemoryBudget {
      MemoryBudget(total: memoryBudget.bytes - (bytesElsewhere ?? 0), downloads: downloads, jobs: jobs)
    }
    /// The free memory in bytes; replaced in tests.
    package var freeMemory: @Sendable () -> Int? = { MachineMemory.available() }
    /// Concurrent downloads. Default: 16. A download without a byte for a second, or less if its host usually responds
    /// faster, lends its slot to the next: up to 32 such silent downloads are open in addition.
    public var downloads = 16
    /// Concurrent downloads from one host. Default: 6. If this, `downloads` or a photo service's own limit is less than
    /// 6, no slots are lent there: a silent download is stopped after five seconds and retried after the others.
    public var downloadsPerHost = 6
    /// When the slots of silent downloads are lent to others; replaced in tests.
    var silence = SilencePolicy()
    private static let mostJobs = 256
    /// Concurrent decodes. Default: one for each active core. While fewer run, the tiles of a HEIC or AVIF are decoded by
    /// two threads.
    public var jobs = min(ProcessInfo.processInfo.activeProcessorCount, Self.mostJobs)
    /// Local files that are open at once.
    var openFiles = 64
    /// The longest body that is downloaded, in bytes. Default: 256 MiB.
    public var maximumSourceBytes = ByteSize.mebibytes(256)
    /// The most pixels an image may have. Default: 268,435,456 (2²⁸: 16384 × 16384).
    public var maximumPixels = 1 << 28
    /// How truncated and damaged images are handled. Their thumbnails stay out of the disk cache, so that they are
    /// never taken for complete ones later. A download that breaks off is an error in any case. Default: `refuse`.
    public var damaged = DamagePolicy.refuse
    /// The processes that decode images. Default: helper processes, confined by the kernel. `.inProcess` needs no
    /// helper, and refuses SVG, PDF and other formats that can crash or hang their decoder.
    public var isolation = DecodeIsolation()
    /// The program's own steps that variants may name (`Variant.processor`): each gets the finished pixels of a
    /// thumbnail before it is encoded, in this process. Default: none.
    public var processors: [ThumbnailProcessor] = []
    /// Whether small thumbnails are made from images that cameras embed in a file, if they are large enough and have
    /// the image's aspect ratio and orientation: the thumbnail in a HEIC's container, if it matches at least eight
    /// tiles spread over the image. Then only a part of the file is read. Small edits elsewhere that left the small
    /// image unchanged are not detected. Such thumbnails stay in the cache, and their responses say so (`ThumbnailResponse.preview`). Default: `auto`.
    public var previews = PreviewUse.auto
    /// When a stored thumbnail is used as fresh, and when it is revalidated. Default: as the server's response says.
    public var cacheMode = CacheMode.standard
    /// Whether to ignore cached failures. Otherwise images that do not exist (404, 410) or are not images fail for an
    /// hour without a request, and too large ones for a day or until a limit is raised; for less if the server states
    /// it (`Cache-Control`, `Expires`). Default: false.
    package var retriesFailures = false
    /// The most revalidations that run in the background at once; beyond that a request waits for its server. Tests use
    /// fewer.
    var mostRevalidations = 256
    /// When hosts are paused; tests use shorter pauses.
    var hosts = HostHealth.Policy()
    /// Whether thumbnails get placeholders.
    package var makesPlaceholders = true
    /// The wall clock; replaced in tests.
    var now: @Sendable () -> Date = { Date() }
    /// The time limit for connecting. Default: 10 s.
    public var connectTimeout = Duration.seconds(10)
    /// The time that a transfer may receive nothing. Default: 20 s.
    public var stallTimeout = Duration.seconds(20)
    /// The time limit for one download, with all attempts and the pauses between them. Default: 300 s.
    public var totalTimeout = Duration.seconds(300)
    /// Attempts at one download, including the first. Default: 4.
    public var attempts = 4
    /// The time that requests wait for a host without progress, because it asks for pauses (429, 503) or because
    /// several of its images have failed. Then all of them fail with `rateLimited` or `hostClosed`, or are served
    /// stale. This suits a prefetch, but not an interactive program. Default: 0: they fail at once.
    public var maximumWait = Duration.zero
    /// The least that a server must send, in bytes per second on average over 20 seconds. 0, for tests, allows any rate.
    package var minimumRate = ByteSize(bytes: 1000)
    /// The `User-Agent` sent to servers; nil, the default, for `thumbs/VERSION libcurl/VERSION`. Include a contact if
    /// you request many images.
    public var userAgent: String?
    /// A file with the certificate authorities to trust, in PEM form, instead of the system's.
    public var certificateAuthorityFile: String?
    /// The proxy. Default: that of the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`).
    public var proxy = ProxyChoice.environment
    /// The addresses that connections may be made to, for redirects, alternate URLs and photo services as well. A
    /// program that fetches URLs of strangers sets `publicOnly`, and should have a cache folder of its own, because
    /// fresh thumbnails are served without a check of their address. Local files are not affected. docs/addresses.md
    /// has the details. Default: `any`.
    ///
    /// With any other policy the environment must name no proxy, which would bypass it. A proxy that is set here is
    /// used, and has to refuse addresses itself.
    public var addresses = AddressPolicy.any
    /// The directives of `X-Robots-Tag`, such as `noai`, with which a server forbids the use of an image. Such images
    /// fail with `optedOut` before their body is read; thumbnails in the cache are still used. Default: none.
    package var disallowedDirectives: [String] = []
    /// The storage of `s3` URLs, with the keys that sign requests for them; such sources are made by its `source`. Its
    /// keys are not part of the cache key either. Default: none.
    package var objectStorage: ObjectStorage?
    /// The client certificates for hosts that request one. They are not part of the cache key: use a separate cache
    /// folder for each identity. Default: none.
    package var clientCertificates: [ClientCertificate] = []

    /// The defaults, with another folder for the disk cache if one is given.
    public init(cacheDirectory: URL? = nil) {
      self.cacheDirectory = cacheDirectory ?? Self.standardCacheDirectory()
    }

    /// `thumbs` in the user's cache folder, by the XDG base directory specification.
    package static func standardCacheDirectory(
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

    /// The folder of partial downloads.
    static func partialDownloads(in cacheDirectory: URL) -> URL {
      cacheDirectory.appendingPathComponent("partial", isDirectory: true)
    }

    /// The formats of local files that a pipeline so configured decodes, as far as libvips can read them.
    package var readableFormats: Set<ImageFormat> {
      let admitsAll = isolation.admitsUnsafe(isUserFile: true)
      return Set(ImageFormat.allCases.filter { admitsAll || $0.isReadInProcess })
    }

    /// A message that says which value is invalid and what to do; nil if all are valid.
    package var problem: String? {
      if !(1...1024).contains(downloads) { return "downloads must be from 1 to 1024" }
      if !(1...1024).contains(downloadsPerHost) { return "downloads per host must be from 1 to 1024" }
      if !(1...Self.mostJobs).contains(jobs) { return "jobs must be from 1 to \(Self.mostJobs)" }
      for size in [memoryCacheLimit, diskCacheLimit, partialDownloadLimit, memoryBudget, maximumSourceBytes]
      where size.bytes > 1 << 50 {
        return "a size of \(size) cannot be used; the most is 1024 TiB"
      }
      if let problem = isolation.problem { return problem }
      if let problem = guardBypass() { return problem }
      if let problem = processors.lazy.compactMap(\.problem).first { return problem }
      if Set(processors.map(\.identifier)).count < processors.count { return "two processors have the same name" }
      if let problem = cacheMode.problem { return problem }
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
