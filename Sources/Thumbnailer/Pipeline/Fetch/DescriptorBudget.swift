import Foundation

/// Limits a pipeline's concurrent work by the files and sockets that its process may still open.
struct DescriptorBudget: Sendable {
  /// Descriptors of libcurl and Dispatch, and of a folder and a library that are being read. Where there is a
  /// lane for each job, it writes in place of a second body (`perJob`); more find room in the sixteenth.
  private static let fixed = 5
  /// The connections of the disk cache.
  private static let cache = 7
  /// The executable of helpers, and the sockets of their zygotes and of two that wait.
  private static let helpers = 6
  /// For each download: its connection and an idle one, the look-up of its host, and the file of its body.
  private static let perDownload = 4
  /// For each decode: the files of two bodies that wait for it, and the sockets of its helper and of one that waits.
  private static let perJob = 4
  /// The connections and bodies of silent downloads that lend their slots.
  private static let lent = 64
  /// Fewer downloads lend no slots.
  private static let lending = 6

  /// The decodes, the downloads, and the local files that are open, at once. All are at least 1.
  let (jobs, downloads, openFiles): (Int, Int, Int)

  /// Divides the remaining descriptors, with a sixteenth for each decode.
  ///
  /// - Throws: `.invalidRequest` if they do not suffice for one of each.
  init(limit: Int, open: Int, _ wanted: ThumbnailPipeline.Configuration) throws(ThumbnailError) {
    let fixed =
      Self.fixed + open + (wanted.diskCacheLimit.bytes > 0 ? Self.cache : 0)
      + (wanted.isolation.isInProcess ? 0 : Self.helpers)
    let least = fixed + Self.perDownload + Self.perJob
    var free = limit - fixed
    guard limit >= least else {
      throw .invalidRequest(
        reason: "the process may open \(limit) files and sockets, and needs \(least): raise the limit (ulimit -n)")
    }
    jobs = max(1, min(wanted.jobs, free / 16))
    free -= Self.perJob * jobs
    let most = max(min(Self.lending - 1, free / 8), (free - Self.lent) / 8)
    downloads = max(1, min(wanted.downloads, most))
    free -= Self.perDownload * downloads + (downloads < Self.lending ? 0 : Self.lent)
    openFiles = max(1, min(wanted.openFiles, free))
  }
}

extension ThumbnailPipeline.Configuration {
  /// The settings, with less at once if the process may open only few files.
  func fittingDescriptors() throws(ThumbnailError) -> Self {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return self }
    // One of them is the folder itself.
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count - 1) ?? 0
    let budget = try DescriptorBudget(limit: Int(clamping: limit.rlim_cur), open: open, self)
    var fitting = self
    (fitting.jobs, fitting.downloads, fitting.openFiles) = (budget.jobs, budget.downloads, budget.openFiles)
    return fitting
  }
}
