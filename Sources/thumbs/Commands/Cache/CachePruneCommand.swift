import ThumbnailCache
import ThumbnailCore
import ArgumentParser
import Foundation
import PhotoSources
import Thumbnailer

/// `thumbs cache prune`.
struct CachePruneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Removes part of the disk cache.",
    usage: "thumbs cache prune --older-than <DURATION> [<options>]",
    discussion: """
      Examples:
        thumbs cache prune --older-than 30d

      The pages of searches and remembered failures stay. 'thumbs prefetch --disk-cache
      SIZE' makes the cache smaller.

      --json prints directory, removedThumbnails, removedBytes, fileBytes.
      """)

  @Option("DURATION", "Remove pictures that were fetched longer ago, such as 30d or 12h.")
  var olderThan: Duration

  @OptionGroup var cache: CacheOptions
  @OptionGroup var form: JSONOption

  func run() async throws {
    let time = Date(timeIntervalSinceNow: -olderThan.seconds)
    var removed: [Int] = []
    var fileBytes = 0
    if let disk = try cache.open() {
      let advice = "to prune takes some MiB until it is done; 'thumbs cache clear' needs no room"
      removed = try await disk.change(whenFull: advice) { disk throws(DiskCacheError) in
        try await disk.prune(fetchedBefore: time)
      }
      fileBytes = try disk.statistics().fileBytes
    }
    let bytes = removed.reduce(0, +)
    let object: JSONObject = [
      "directory": cache.directory.path, "removedThumbnails": removed.count, "removedBytes": bytes,
      "fileBytes": fileBytes,
    ]
    let what = "\(removed.count) thumbnails, \(ByteSize(bytes: bytes)), from \(cache.directory.path)"
    try Console.standard.print(form.json ? object.line : "removed \(what)")
  }
}

/// `thumbs cache clear`.
struct CacheClearCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Empties the disk cache.",
    discussion: """
      Example:
        thumbs cache clear --cache-dir /var/cache/thumbs

      Also removed: the stored pages of searches, the freshness of pictures,
      remembered failures, interrupted downloads, the pauses of hosts, and the
      dates of pictures in folders.
      Others may use the cache meanwhile.

      --json prints directory, removedThumbnails, removedBytes.
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup var form: JSONOption

  func run() async throws {
    let disk = try cache.open()
    let before = try disk?.statistics()
    try await disk?.change { disk throws(DiskCacheError) in try await disk.removeAll() }
    ThumbnailPipeline.removeDownloadRecords(in: cache.directory)
    FolderDatesFile.removeAll(in: cache.directory)
    let (thumbnails, bytes) = (before?.thumbnails ?? 0, before?.payloadBytes ?? 0)
    let folder = cache.directory.path
    let object: JSONObject = ["directory": folder, "removedThumbnails": thumbnails, "removedBytes": bytes]
    try Console.standard.print(
      form.json ? object.line : "removed \(thumbnails) thumbnails, \(ByteSize(bytes: bytes)), from \(folder)")
  }
}
