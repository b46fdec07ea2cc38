import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs cache`: what is in the disk cache, and away with it.
struct CacheCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Shows or empties the disk cache.",
    discussion: """
      Examples:
        thumbs cache stats
        thumbs cache stats --json --cache-dir /var/cache/thumbs
        thumbs cache clear
      """,
    subcommands: [Stats.self, Clear.self])

  /// `thumbs cache stats`.
  struct Stats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "stats",
      abstract: "Prints how many thumbnails there are and what they take.",
      discussion: """
        Example:
          thumbs cache stats --json

        --json prints directory, thumbnails, sources, bytes, limitBytes, fileBytes.
        """)

    @OptionGroup var cache: CacheOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() async throws {
      let console = Console()
      let statistics = try cache.open(console)?.statistics()
      let directory = cache.directory.path
      let limit = cache.limit.bytes
      var object = JSONObject()
      object.add("directory", directory)
      object.add("thumbnails", statistics?.thumbnails ?? 0)
      object.add("sources", statistics?.sources ?? 0)
      object.add("bytes", statistics?.payloadBytes ?? 0)
      object.add("limitBytes", limit)
      object.add("fileBytes", statistics?.fileBytes ?? 0)
      let text = """
        \(directory)
        \(statistics?.thumbnails ?? 0) thumbnails of \(statistics?.sources ?? 0) pictures
        \(ByteSize(bytes: statistics?.payloadBytes ?? 0)) of \(ByteSize(bytes: limit)), \
        \(ByteSize(bytes: statistics?.fileBytes ?? 0)) on disk
        """
      do { try console.print(json ? object.line : text) } catch { throw console.cannotPrint(error) }
    }
  }

  /// `thumbs cache clear`.
  struct Clear: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "clear",
      abstract: "Removes all thumbnails from the disk cache.",
      discussion: """
        Example:
          thumbs cache clear --cache-dir /var/cache/thumbs

        --json prints directory, removedThumbnails, removedBytes.
        """)

    @OptionGroup var cache: CacheOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() async throws {
      let console = Console()
      let disk = try cache.open(console)
      let before = try disk?.statistics()
      do {
        try await disk?.removeAll()
      } catch {
        // The cache has said why already.
        throw ExitCode.cannotWrite
      }
      let (thumbnails, bytes) = (before?.thumbnails ?? 0, before?.payloadBytes ?? 0)
      var object = JSONObject()
      object.add("directory", cache.directory.path)
      object.add("removedThumbnails", thumbnails)
      object.add("removedBytes", bytes)
      let text = "removed \(thumbnails) thumbnails, \(ByteSize(bytes: bytes)), from \(cache.directory.path)"
      do { try console.print(json ? object.line : text) } catch { throw console.cannotPrint(error) }
    }
  }
}

extension CacheOptions {
  /// The limit given, or the library's default.
  var limit: ByteSize { diskCache ?? ThumbnailPipeline.Configuration().diskCacheLimit }

  /// The disk cache itself, whatever its size; nil when nobody has made one there yet, and then none is made.
  func open(_ console: Console) throws -> DiskCache? {
    var isFolder: ObjCBool = false
    let isThere = FileManager.default.fileExists(atPath: directory.path, isDirectory: &isFolder)
    // Something else in the folder's place is an error, which opening the cache words.
    if !DiskCache.exists(in: directory), isThere == isFolder.boolValue { return nil }
    do {
      return try DiskCache(directory: directory, byteLimit: nil) { console.complain("\($0)") }
    } catch {
      console.complain("\(error)")
      throw ExitCode.cannotWrite
    }
  }
}
