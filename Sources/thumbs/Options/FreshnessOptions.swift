import ArgumentParser
import Foundation
import Thumbnailer

/// When cached thumbnails are revalidated.
struct FreshnessOptions: ParsableArguments {
  @Flag(
    help: "Ask the servers about every picture in the cache, however fresh; what has not changed is not sent again.")
  var refresh = false

  @Option(
    help: ArgumentHelp(
      "Ask about what was fetched or confirmed longer ago than this, such as 30s, 10m, 12h, 7d or 0, whatever servers say.",
      valueName: "AGE"), transform: Duration.option)
  var maxAge: Duration?

  @Flag(help: "Download nothing: what is in the cache is good, however old, and the rest fails with offline-miss.")
  var offline = false

  @Flag(
    help: """
      Ask again for pictures that were not there or no pictures within the last hour, or too large within the last day.
      """)
  var retryFailed = false

  func validate() throws {
    let given = [(refresh, "--refresh"), (maxAge != nil, "--max-age"), (offline, "--offline")].filter(\.0).map(\.1)
    if given.count > 1 {
      throw ValidationError("\(given[0]) and \(given[1]) exclude each other: give one of them")
    }
    if offline, retryFailed {
      throw ValidationError("--offline and --retry-failed exclude each other: nothing is asked for offline")
    }
  }

  /// The configuration with these options applied.
  func applied(to configuration: ThumbnailPipeline.Configuration) -> ThumbnailPipeline.Configuration {
    var configuration = configuration
    configuration.retriesFailures = retryFailed
    if refresh { configuration.cacheMode = .refresh }
    if let maxAge { configuration.cacheMode = .maximumAge(maxAge) }
    if offline { configuration.cacheMode = .offline }
    return configuration
  }
}
