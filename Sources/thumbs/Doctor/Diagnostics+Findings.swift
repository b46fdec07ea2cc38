import HTTPTransport
import ThumbnailCache
import DecodeSandbox
import Thumbnailer

/// The findings: problems of this machine, and what to do about them.
extension Diagnostics {
  /// The formats that every pipeline must be able to read.
  private static let neededToRead: Set<ImageFormat> = [.jpeg, .png, .webp, .gif, .tiff]
  private static let neededToWrite: Set<ImageFormat> = [.jpeg, .png, .webp]

  static func findings(of formats: [FormatSupport]) -> [Finding] {
    formats.flatMap { support in
      let format = support.format
      return [
        (support.readingProblem, "read", neededToRead), (support.writingProblem, "written", neededToWrite),
      ].compactMap { reason, done, needed in
        reason.map {
          Finding(
            severity: needed.contains(format) ? .problem : .remark,
            message: "\(format.displayName) cannot be \(done): \($0); \(install(format))")
        }
      }
    }
  }

  static func findings(of gaps: [ConfinementGap]) -> [Finding] {
    gaps.map { gap in
      let advice =
        switch gap.part {
        case .systemCalls: "use a kernel of version 4.14 or newer with CONFIG_SECCOMP_FILTER"
        case .files: "use a kernel of version 5.13 or newer, with landlock among its security modules (lsm=)"
        case .namespaces: "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)"
        }
      return Finding(severity: .remark, message: "\(gap): \(advice)")
    }
  }

  static func findings(of network: CurlFeatures?) -> [Finding] {
    let install = "install another, with apt install libcurl4"
    guard let network else {
      return [.problem("libcurl cannot be started: \(CurlLibrary.startFailure ?? "no memory"); \(install)")]
    }
    var findings: [Finding] = []
    for scheme in ["http", "https"] where !network.protocols.contains(scheme) {
      findings.append(.problem("this libcurl knows no \(scheme): \(install)"))
    }
    if !network.httpVersions.contains("2") {
      findings.append(
        .remark(
          "this libcurl knows no HTTP/2, which fetches many pictures of one host over one connection: \(install)"))
    }
    if !network.resolvesAsynchronously {
      findings.append(.remark("this libcurl holds up all transfers while it looks up a name: \(install)"))
    }
    return findings
  }

  static func findings(of cache: CacheExamination, limit: ByteSize) -> [Finding] {
    var findings: [Finding] = []
    switch cache.problem {
    case nil: break
    case .damaged(let path, let reason):
      findings.append(.problem("the cache \(path) is damaged: \(reason); the next run begins it anew"))
    case .some(let problem): findings.append(.problem("\(problem)"))
    }
    if cache.isOnNetwork {
      findings.append(
        .problem(
          "\(cache.directory) is on a network file system (\(cache.fileSystem ?? "unknown")), where the cache can be "
            + "damaged: choose a folder on a local disk"))
    }
    let growth = limit.bytes + limit.bytes / 10 - cache.contents.fileBytes
    if cache.problem == nil, let free = cache.freeBytes, free < growth {
      findings.append(
        .remark(
          "the cache may grow by \(ByteSize(bytes: growth)), and its disk has \(ByteSize(bytes: free)) left: make room, "
            + "or lower the disk cache's limit"))
    }
    if let exposure = cache.exposure { findings.append(.remark(exposure)) }
    return findings
  }

  static func findings(
    of limits: [Limit], _ configuration: ThumbnailPipeline.Configuration
  ) -> [Finding] {
    let needed = DescriptorBudget.needed(configuration)
    guard let files = limits.first(where: { $0.name == openFilesName })?.value, files < needed else { return [] }
    return [
      .problem(
        "the process may open \(files) files, and a busy pipeline needs \(needed), so it does less at once: raise the "
          + "limit, with ulimit -n 1024")
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
      case .jpeg2000: "libopenjp2-7"
      case .openEXR: "libopenexr-dev"
      case .bmp, .ico: "libmagickcore-6.q16-6, or libmagickcore-7.q16-10 on newer systems"
      default: "libvips-dev"
      }
    return "try apt install \(package)"
  }
}

extension Diagnostics.Finding {
  fileprivate static func problem(_ message: String) -> Self { Self(severity: .problem, message: message) }
  fileprivate static func remark(_ message: String) -> Self { Self(severity: .remark, message: message) }
}
