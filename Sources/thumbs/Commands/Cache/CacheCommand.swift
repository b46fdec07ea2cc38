import ArgumentParser

/// `thumbs cache`: inspects and manages the disk cache.
struct CacheCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Shows, checks, exports or empties the disk cache.",
    discussion: """
      Examples:
        thumbs cache stats
        thumbs cache list lake
        thumbs cache export thumbnails https://example.org/a.jpg
        thumbs cache verify --json
        thumbs cache prune --older-than 30d
        thumbs cache clear --cache-dir /var/cache/thumbs
      """,
    subcommands: [
      CacheStatsCommand.self, CacheListCommand.self, CacheExportCommand.self, CacheVerifyCommand.self,
      CachePruneCommand.self, CacheRemoveCommand.self, CacheClearCommand.self,
    ])
}
