import ArgumentParser
import PhotoSources
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// `thumbs cache clear`.
struct CacheClearCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Empties the disk cache.",
    discussion: """
      Example:
        thumbs cache clear --cache-dir /var/cache/thumbs

      Also removed: the stored pages of searches, what servers said of the
      pictures, remembered failures, the count of hits and misses, the beginnings
      of broken downloads, which hosts asked for a pause, and the dates of pictures
      in folders.
      Others may use the cache meanwhile.

      --json prints directory, removedThumbnails, removedBytes.
      """)

  @OptionGroup var cache: CacheOptions
  @Flag(help: "Print one JSON object.") var json = false

  func run() async throws {
    let disk = try cache.open()
    let before = try disk?.statistics()
    try await disk?.change { disk throws(DiskCacheError) in try await disk.removeAll() }
    ThumbnailPipeline.removePartialDownloads(in: cache.directory)
    ThumbnailPipeline.removeHostRecords(in: cache.directory)
    FolderDatesFile.removeAll(in: cache.directory)
    let (thumbnails, bytes) = (before?.thumbnails ?? 0, before?.payloadBytes ?? 0)
    let object: JSONObject = [
      "directory": cache.directory.path, "removedThumbnails": thumbnails, "removedBytes": bytes,
    ]
    let text = "removed \(thumbnails) thumbnails, \(ByteSize(bytes: bytes)), from \(cache.directory.path)"
    try Console.standard.print(json ? object.line : text)
  }
}
