import Foundation
import ThumbnailCore
import Thumbnailer

/// The counts of a run: the last line of `--json`, or the summary for people.
struct RunSummary {
  /// The number of results that the source reports; for people only. Nil if anything but the page limit ended the run.
  var matching: Int?

  var pictures = 0
  private var outcomes: [PictureReport.Status: Int] = [:]
  /// Images decoded only in part.
  var damaged = 0
  /// The pipeline's counts, and the time, at the end.
  var statistics: PipelineStatistics
  var duration = Duration.zero
  var provider = ""

  /// The number of failed images by reason; for people only.
  var failures: [String: Int] = [:]
  /// The number of thumbnails that succeeded; for people only.
  var thumbnails = 0

  /// The number of exported files; nil without an export.
  var exportedFiles: Int?
  /// The summary of the export; for people only.
  var exportText: String?

  /// - Parameter statistics: The pipeline's counts at the beginning.
  init(_ statistics: PipelineStatistics) { self.statistics = statistics }

  /// Counts one image.
  mutating func add(_ report: PictureReport) {
    pictures += 1
    thumbnails += report.responses.count
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

  private var picturesPerSecond: Double {
    duration > .zero ? (Double(pictures) / duration.seconds).rounded(toPlaces: 1) : 0
  }

  /// The last line of `--json`.
  var json: JSONObject {
    [
      "pictures": pictures, "stored": count(.stored), "made": count(.made), "hits": hits,
      "revalidated": count(.revalidated), "stale": count(.stale), "failed": failed,
      "downloadedBytes": statistics.downloadedBytes, "bytesLeft": statistics.bytesLeft,
      "storedBytes": statistics.storedBytes, "seconds": duration.seconds.rounded(toPlaces: 3),
      "picturesPerSecond": picturesPerSecond, "peakMemoryBytes": ProcessMemory.peak, "damaged": damaged.unlessZero,
      "provider": provider, "exportedFiles": exportedFiles,
    ]
  }

  /// The part about cache hits.
  private var fromCache: String {
    let reason =
      statistics.servedWhileRevalidating == 0
      ? "their servers out of reach"
      : statistics.servedStale > 0 ? "some of their servers out of reach" : "revalidated since"
    let parts = [(count(.revalidated), "confirmed by their servers"), (count(.stale), "out of date, \(reason)")]
    let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return words.isEmpty ? "" : " (\(words.joined(separator: "; ")))"
  }

  /// The human-readable summary.
  var text: String {
    let (made, left) = (count(.made), statistics.bytesLeft)
    var lines = [
      "\(pictures.of("picture")) from \(provider): "
        + "\(made + count(.stored)) made\(made > 0 ? " (\(made) of them not stored)" : ""), \(hits) from the cache\(fromCache), \(failed) failed"
        + (thumbnails == pictures - failed ? "" : "; \(thumbnails.of("thumbnail"))"),
      "downloaded \(ByteSize(bytes: statistics.downloadedBytes))"
        + (left > 0 ? " and left \(ByteSize(bytes: left)) that no thumbnail needs" : "")
        + ", stored \(ByteSize(bytes: statistics.storedBytes)), "
        + "\(duration.seconds.rounded(toPlaces: 2)) s, \(picturesPerSecond) pictures/s, "
        + "peak memory \(ByteSize(bytes: ProcessMemory.peak))",
    ]
    if damaged > 0 {
      lines.append("\(damaged) damaged: what can be read of \(damaged == 1 ? "it" : "them") is shown, and not stored")
    }
    if let exportText { lines.append(exportText) }
    if let matching, matching > pictures {
      lines.append("\(matching - pictures) more match: three pages end a run; give --count N for more")
    }
    if !failures.isEmpty {
      let causes = failures.byCount.map { "\($0.value) \($0.key)" }
      lines.append("failed: " + causes.joined(separator: ", "))
    }
    return lines.joined(separator: "\n")
  }
}
