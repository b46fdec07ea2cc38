import ArgumentParser
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// `thumbs cache stats`.
struct CacheStatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Prints the contents of the disk cache by size, format, host and age.",
    usage: "thumbs cache stats [<options>]",
    discussion: """
      Example:
        thumbs cache stats --json

      Hits and misses are look-ups on the disk, of all runs since the cache was
      begun or cleared. Ages are those of the pictures: when they were fetched.

      --json prints directory, thumbnails, sources, bytes, limitBytes, fileBytes,
      partialBytes (the beginnings of broken downloads), hits, misses, sizes,
      formats, hosts, hostCount and ages.
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup var form: JSONOption

  /// The most hosts to name.
  private static let hosts = 10

  func run() async throws {
    let report = CacheStatsReport(
      overview: try cache.open()?.overview(hosts: Self.hosts), directory: cache.directory.path, limit: cache.limit,
      partialBytes: ThumbnailPipeline.partialDownloadBytes(in: cache.directory))
    try Console.standard.print(form.json ? report.json.line : report.text)
  }
}

/// The output of `thumbs cache stats`.
struct CacheStatsReport {
  let overview: DiskCacheOverview?
  let directory: String
  let limit: ByteSize
  let partialBytes: Int

  private var ages: [(name: String, label: String, pictures: Int)] {
    let ages = overview?.ages ?? .init()
    return [
      ("day", "last day", ages.lastDay), ("week", "last week", ages.lastWeek), ("month", "last month", ages.lastMonth),
      ("older", "older", ages.older),
    ]
  }

  /// The JSON object of `--json`.
  var json: JSONObject {
    [
      "directory": directory,
      "thumbnails": overview?.totals.thumbnails ?? 0,
      "sources": overview?.totals.sources ?? 0,
      "bytes": overview?.totals.payloadBytes ?? 0,
      "limitBytes": limit.bytes,
      "fileBytes": overview?.totals.fileBytes ?? 0,
      "partialBytes": partialBytes,
      "hits": overview?.hits ?? 0,
      "misses": overview?.misses ?? 0,
      "sizes": (overview?.sizes ?? []).map { size -> JSONObject in
        ["size": Self.text(of: size.name), "thumbnails": size.thumbnails, "bytes": size.bytes]
      },
      "formats": (overview?.formats ?? []).map { format -> JSONObject in
        ["format": format.name.rawValue, "thumbnails": format.thumbnails, "bytes": format.bytes]
      },
      "hosts": (overview?.hosts ?? []).map { host -> JSONObject in ["host": host.host, "pictures": host.pictures] },
      "hostCount": overview?.hostCount ?? 0,
      "ages": ages.map { age -> JSONObject in ["age": age.name, "pictures": age.pictures] },
    ]
  }

  /// The human-readable lines.
  var text: String {
    let totals = overview?.totals
    var lines = [
      directory,
      "\(totals?.thumbnails ?? 0) thumbnails of \(totals?.sources ?? 0) pictures",
      "\(ByteSize(bytes: totals?.payloadBytes ?? 0)) of \(limit), \(ByteSize(bytes: totals?.fileBytes ?? 0)) on disk",
      lookUps,
    ]
    if partialBytes > 0 { lines.insert("\(ByteSize(bytes: partialBytes)) of interrupted downloads to resume", at: 3) }
    guard let overview, overview.totals.thumbnails > 0 else { return lines.joined(separator: "\n") }
    lines += Self.table(
      "size", "thumbnails", overview.sizes.map { (Self.text(of: $0.name), $0.thumbnails, ByteSize(bytes: $0.bytes)) })
    lines += Self.table(
      "format", "thumbnails",
      overview.formats.map { ($0.name.displayName, $0.thumbnails, ByteSize(bytes: $0.bytes)) })
    lines += Self.table(
      "host", "pictures",
      overview.hosts.map { ($0.host.isEmpty ? "local files" : PlainText.line($0.host), $0.pictures, nil) })
    let unnamed = overview.hostCount - overview.hosts.count { !$0.host.isEmpty }
    if unnamed > 0 { lines.append("  … and \(unnamed) more") }
    lines += Self.table("fetched", "pictures", ages.map { ($0.label, $0.pictures, nil) })
    return lines.joined(separator: "\n")
  }

  /// The box as `--size` has it; thumbnails of another version's variant have none that this version can read.
  private static func text(of box: PixelSize?) -> String { box.map { "\(TargetSize($0))" } ?? "other version" }

  private var lookUps: String {
    let (hits, misses) = (overview?.hits ?? 0, overview?.misses ?? 0)
    guard hits + misses > 0 else { return "no look-ups yet" }
    let share = (100 * Double(hits) / Double(hits + misses)).rounded(toPlaces: 1)
    return "\(hits) hits, \(misses) misses: \(share) % found"
  }

  /// A heading and its rows, in aligned columns.
  private static func table(_ title: String, _ unit: String, _ rows: [(String, Int, ByteSize?)]) -> [String] {
    let name = max(title.count, rows.map { $0.0.count }.max() ?? 0)
    let number = max(unit.count, rows.map { "\($0.1)".count }.max() ?? 0)
    let size = rows.compactMap { $0.2?.description.count }.max() ?? 0
    let heading = "\(title.padded(to: name + 2))  \(unit.aligned(to: number))"
    return ["", heading]
      + rows.map { row in
        "  \(row.0.padded(to: name))  \("\(row.1)".aligned(to: number))"
          + (row.2.map { "  \($0.description.aligned(to: size))" } ?? "")
      }
  }
}
