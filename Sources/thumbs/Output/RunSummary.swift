import Foundation
import ThumbnailCore
import Thumbnailer

/// The counts of a run: the last line of `--json`, or the summary for people.
struct RunSummary {
  /// The number of results that the source reports; for people only. Nil if anything but the page limit ended the run.
  var matching: Int?
  /// The number of results beyond the page limit.
  private var unseen: Int? { matching.map { $0 - pictures } }

  var pictures = 0
  private var outcomes: [PictureReport.Status: Int] = [:]
  /// Images decoded only in part.
  var damaged = 0
  var downloadedBytes = 0
  var bytesLeft = 0
  var storedBytes = 0
  var seconds = 0.0
  var picturesPerSecond = 0.0
  var peakMemoryBytes = 0
  var provider = ""

  /// Whether a server was unreachable, and whether a stale thumbnail was used during revalidation; for people only.
  private var (wasOutOfReach, wasAskedBehind) = (false, false)

  /// The number of failed images by reason; for people only.
  var failures: [String: Int] = [:]
  /// The number of thumbnails that succeeded; for people only.
  var thumbnails = 0

  /// The number of exported files; nil without an export.
  var exportedFiles: Int?
  /// The summary of the export; for people only.
  var exportText: String?

  /// Counts one image.
  mutating func add(_ report: PictureReport) {
    pictures += 1
    thumbnails += report.thumbnails.count
    if report.isDamaged { damaged += 1 }
    outcomes[report.status, default: 0] += 1
    if let error = report.error { failures[error.code, default: 0] += 1 }
  }

  /// The number of images with one of these outcomes.
  private func count(_ statuses: PictureReport.Status...) -> Int {
    statuses.reduce(0) { $0 + outcomes[$1, default: 0] }
  }

  var failed: Int { count(.failed) }

  /// Those from the cache, including revalidated and stale ones.
  private var hits: Int { count(.memory, .disk, .revalidated, .stale) }

  /// Adds the values that are known only at the end.
  mutating func finish(_ statistics: PipelineStatistics, since started: ContinuousClock.Instant) {
    downloadedBytes = statistics.downloadedBytes
    bytesLeft = statistics.bytesLeft
    storedBytes = statistics.storedBytes
    (wasOutOfReach, wasAskedBehind) = (statistics.servedStale > 0, statistics.servedWhileRevalidating > 0)
    let elapsed = (ContinuousClock.now - started).seconds
    seconds = elapsed.rounded(toPlaces: 3)
    picturesPerSecond = elapsed > 0 ? (Double(pictures) / elapsed).rounded(toPlaces: 1) : 0
    peakMemoryBytes = ProcessMemory.peak
  }

  /// The last line of `--json`.
  var json: JSONObject {
    [
      "pictures": pictures, "stored": count(.stored), "made": count(.made), "hits": hits,
      "revalidated": count(.revalidated), "stale": count(.stale), "failed": failed,
      "downloadedBytes": downloadedBytes, "bytesLeft": bytesLeft, "storedBytes": storedBytes, "seconds": seconds,
      "picturesPerSecond": picturesPerSecond, "peakMemoryBytes": peakMemoryBytes, "damaged": damaged.unlessZero,
      "provider": provider, "exportedFiles": exportedFiles,
    ]
  }

  /// The part about cache hits.
  private var fromCache: String {
    let reason =
      !wasAskedBehind
      ? "their servers out of reach" : wasOutOfReach ? "some of their servers out of reach" : "asked about since"
    let parts = [(count(.revalidated), "confirmed by their servers"), (count(.stale), "out of date, \(reason)")]
    let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return words.isEmpty ? "" : " (\(words.joined(separator: "; ")))"
  }

  /// The human-readable summary.
  var text: String {
    let made = count(.made)
    var lines = [
      "\(pictures.of("picture")) from \(provider), \(thumbnails.of("thumbnail")): "
        + "\(made + count(.stored)) made\(made > 0 ? " (\(made) of them not stored)" : ""), \(hits) from the cache\(fromCache), \(failed) failed",
      "downloaded \(ByteSize(bytes: downloadedBytes))"
        + (bytesLeft > 0 ? " and left \(ByteSize(bytes: bytesLeft)) that no thumbnail needs" : "")
        + ", stored \(ByteSize(bytes: storedBytes)), "
        + "\(seconds.rounded(toPlaces: 2)) s, \(picturesPerSecond) pictures/s, "
        + "peak memory \(ByteSize(bytes: peakMemoryBytes))",
    ]
    if damaged > 0 {
      lines.append("\(damaged) damaged: what can be read of \(damaged == 1 ? "it" : "them") is shown, and not stored")
    }
    if let exportText { lines.append(exportText) }
    if let unseen, unseen > 0 {
      lines.append("\(unseen) more match: the limit of pages ended the run; give --pages N for more")
    }
    if !failures.isEmpty {
      let causes = failures.byCount.map { "\($0.value) \($0.key)" }
      lines.append("failed: " + causes.joined(separator: ", "))
    }
    return lines.joined(separator: "\n")
  }
}
