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
      abstract: "Prints how many thumbnails there are and what they take.",
      discussion: "Example: thumbs cache stats --json")

    @OptionGroup var cache: CacheOptions
    @Flag(help: "Print one JSON object.") var json = false

    private struct Report: Encodable {
      let directory: String
      let thumbnails: Int
      let sources: Int
      let bytes: Int
      let limitBytes: Int
      let fileBytes: Int
    }

    func run() async throws {
      let statistics = try cache.open().statistics()
      let report = Report(
        directory: cache.directory.path, thumbnails: statistics.thumbnails, sources: statistics.sources,
        bytes: statistics.payloadBytes, limitBytes: statistics.byteLimit, fileBytes: statistics.fileBytes)
      let console = Console()
      if json {
        try console.print(try JSONLines().line(report))
      } else {
        try console.print(
          """
          \(report.directory)
          \(report.thumbnails) thumbnails of \(report.sources) pictures
          \(ByteSize(bytes: report.bytes)) of \(ByteSize(bytes: report.limitBytes)), \
          \(ByteSize(bytes: report.fileBytes)) on disk
          """)
      }
    }
  }

  /// `thumbs cache clear`.
  struct Clear: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes all thumbnails from the disk cache.",
      discussion: "Example: thumbs cache clear --cache-dir /var/cache/thumbs")

    @OptionGroup var cache: CacheOptions

    func run() async throws {
      let disk = try cache.open()
      let before = try disk.statistics()
      try await disk.removeAll()
      try Console().print(
        "removed \(before.thumbnails) thumbnails, \(ByteSize(bytes: before.payloadBytes)), from \(cache.directory.path)"
      )
    }
  }
}

extension CacheOptions {
  /// The disk cache itself. Its limit is the one given, or the library's default.
  func open() throws -> DiskCache {
    let limit = diskCache ?? ThumbnailPipeline.Configuration().diskCacheLimit
    do {
      return try DiskCache(directory: directory, byteLimit: limit.bytes)
    } catch {
      Console().complain("\(error)")
      throw ExitCode.cannotWrite
    }
  }
}
