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
  var stored = 0
  /// Made and not stored.
  var made = 0
  /// From the cache, including revalidated and stale ones.
  var hits = 0
  var revalidated = 0
  var stale = 0
  var failed = 0
  /// Those decoded only in part.
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
    switch report.status {
    case .stored: stored += 1
    case .made: made += 1
    case .memory, .disk: hits += 1
    case .revalidated:
      hits += 1
      revalidated += 1
    case .stale:
      hits += 1
      stale += 1
    case .failed:
      failed += 1
      failures[report.error?.code ?? "unknown", default: 0] += 1
    }
  }

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
  var json: String {
    let figures: JSONObject = [
      "pictures": pictures,
      "stored": stored,
      "made": made,
      "hits": hits,
      "revalidated": revalidated,
      "stale": stale,
      "failed": failed,
      "downloadedBytes": downloadedBytes,
      "bytesLeft": bytesLeft,
      "storedBytes": storedBytes,
      "seconds": seconds,
      "picturesPerSecond": picturesPerSecond,
      "peakMemoryBytes": peakMemoryBytes,
      "damaged": damaged.unlessZero,
      "provider": provider,
      "exportedFiles": exportedFiles,
    ]
    return figures.summaryLine
  }

  /// The part about cache hits.
  private var fromCache: String {
    let reason =
      !wasAskedBehind
      ? "their servers out of reach" : wasOutOfReach ? "some of their servers out of reach" : "asked about since"
    let parts = [(revalidated, "confirmed by their servers"), (stale, "out of date, \(reason)")]
    let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return words.isEmpty ? "" : " (\(words.joined(separator: "; ")))"
  }

  /// The human-readable summary.
  var text: String {
    var lines = [
      "\(pictures.of("picture")) from \(provider), \(thumbnails.of("thumbnail")): "
        + "\(stored + made) made\(made > 0 ? " (\(made) of them not stored)" : ""), \(hits) from the cache\(fromCache), \(failed) failed",
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
