import ArgumentParser
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// `thumbs cache stats`.
struct CacheStatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Prints what the disk cache holds.",
    usage: "thumbs cache stats [<options>]",
    discussion: """
      Example:
        thumbs cache stats --json

      --json prints directory, thumbnails, sources, bytes, limitBytes, fileBytes
      and partialBytes (the beginnings of broken downloads).
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup var form: JSONOption

  func run() async throws {
    let held = try cache.open()?.statistics() ?? DiskCacheStatistics()
    let partialBytes = ThumbnailPipeline.partialDownloadBytes(in: cache.directory)
    let object: JSONObject = [
      "directory": cache.directory.path, "thumbnails": held.thumbnails, "sources": held.sources,
      "bytes": held.payloadBytes, "limitBytes": cache.limit.bytes, "fileBytes": held.fileBytes,
      "partialBytes": partialBytes,
    ]
    var lines = [
      cache.directory.path, "\(held.thumbnails) thumbnails of \(held.sources) pictures",
      "\(ByteSize(bytes: held.payloadBytes)) of \(cache.limit), \(ByteSize(bytes: held.fileBytes)) on disk",
    ]
    if partialBytes > 0 { lines.append("\(ByteSize(bytes: partialBytes)) of interrupted downloads to resume") }
    try Console.standard.print(form.json ? object.line : lines.joined(separator: "\n"))
  }
}
