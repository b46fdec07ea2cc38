import Thumbnailer

/// The findings: what is wrong or missing on this machine, and what to do about it.
extension Diagnostics {
  /// The formats that every pipeline must be able to read.
  private static let neededToRead: Set<ImageFormat> = [.jpeg, .png, .webp, .gif, .tiff]
  private static let neededToWrite: Set<ImageFormat> = [.jpeg, .png, .webp]

  static func findings(of formats: [FormatSupport]) -> [Finding] {
    var findings: [Finding] = []
    for support in formats {
      let name = support.format.displayName
      if let reason = support.readingProblem {
        findings.append(
          Finding(
            severity: neededToRead.contains(support.format) ? .problem : .remark,
            message: "\(name) cannot be read: \(reason); \(install(support.format))"))
      }
      if let reason = support.writingProblem {
        findings.append(
          Finding(
            severity: neededToWrite.contains(support.format) ? .problem : .remark,
            message: "\(name) cannot be written: \(reason); \(install(support.format))"))
      }
    }
    return findings
  }

  static func findings(of network: CurlFeatures) -> [Finding] {
    var findings: [Finding] = []
    for scheme in ["http", "https"] where !network.protocols.contains(scheme) {
      findings.append(
        Finding(
          severity: .problem,
          message: "this libcurl knows no \(scheme): install another, with apt install libcurl4"))
    }
    if !network.httpVersions.contains("2") {
      findings.append(
        Finding(
          severity: .remark,
          message: "this libcurl knows no HTTP/2, which fetches many pictures of one host over one connection: "
            + "install another, with apt install libcurl4"))
    }
    if !network.resolvesAsynchronously {
      findings.append(
        Finding(
          severity: .remark,
          message: "this libcurl holds up all transfers while it looks up a name: install another, with apt install "
            + "libcurl4"))
    }
    return findings
  }

  static func findings(of cache: CacheExamination, limit: ByteSize) -> [Finding] {
    var findings: [Finding] = []
    switch cache.problem {
    case nil: break
    case .damaged(let path, let reason):
      findings.append(
        Finding(
          severity: .problem, message: "the cache \(path) is damaged: \(reason); the next run begins it anew"))
    case .some(let problem):
      findings.append(Finding(severity: .problem, message: "\(problem)"))
    }
    if cache.isOnNetwork {
      findings.append(
        Finding(
          severity: .problem,
          message: "\(cache.directory) is on a network file system (\(cache.fileSystem ?? "unknown")), where the cache "
            + "can be damaged: choose a folder on a local disk"))
    }
    let growth = limit.bytes + limit.bytes / 10 - cache.contents.fileBytes
    if cache.problem == nil, let free = cache.freeBytes, free < growth {
      findings.append(
        Finding(
          severity: .remark,
          message: "the cache may grow by \(ByteSize(bytes: growth)), and its disk has \(ByteSize(bytes: free)) left: "
            + "make room, or lower the disk cache's limit"))
    }
    return findings
  }

  static func findings(
    of limits: [Limit], _ configuration: ThumbnailPipeline.Configuration
  ) -> [Finding] {
    // Transfers, local files open at once, two files per decode, and the process' other files.
    let needed = configuration.downloads + 64 + 2 * configuration.jobs + 64
    guard let files = limits.first(where: { $0.name == openFilesName })?.value, files < needed else { return [] }
    return [
      Finding(
        severity: .problem,
        message: "the process may open \(files) files, and a busy pipeline needs \(needed): raise the limit, with "
          + "ulimit -n 1024, or lower the number of downloads")
    ]
  }

  /// How to install support for a format on Debian and Ubuntu.
  private static func install(_ format: ImageFormat) -> String {
    let package =
      switch format {
      case .heif: "libheif-plugin-libde265, or libde265-0 on older systems"
      case .avif: "libheif-plugin-aomdec libheif-plugin-aomenc, or libaom3 on older systems"
      case .svg: "librsvg2-2"
      case .pdf: "libpoppler-glib8"
      case .openEXR: "libopenexr-dev"
      case .bmp, .ico: "libmagickcore-6.q16-6, or libmagickcore-7.q16-10 on newer systems"
      default: "libvips-dev"
      }
    return "try apt install \(package)"
  }
}
