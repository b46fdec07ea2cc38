import ArgumentParser
import Foundation
import Thumbnailer

/// When cached thumbnails are revalidated.
struct FreshnessOptions: ConfigurationOptions {
  @Flag(
    help: "Ask the servers about every picture in the cache, however fresh; what has not changed is not sent again.")
  var refresh = false

  @Option(
    "AGE",
    "Ask about what was fetched or confirmed longer ago than this, such as 30s, 10m, 12h, 7d or 0, whatever servers say."
  )
  var maxAge: Duration?

  @Flag(help: "Download nothing: what is in the cache is good, however old, and the rest fails with offline-miss.")
  var offline = false

  @Flag(
    help: ArgumentHelp(
      """
      Ask again for pictures that were not there or no pictures within the last hour, or too large within the last day.
      """, visibility: .hidden))
  var retryFailed = false

  func validate() throws {
    try checkOneOf([("--refresh", refresh), ("--max-age", maxAge != nil), ("--offline", offline)])
    try checkOneOf([("--offline", offline), ("--retry-failed", retryFailed)], "nothing is asked for offline")
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    configuration.retriesFailures = retryFailed
    if refresh { configuration.cacheMode = .refresh }
    if let maxAge { configuration.cacheMode = .maximumAge(maxAge) }
    if offline { configuration.cacheMode = .offline }
  }
}

/// How long a run waits for hosts.
struct PauseOptions: ConfigurationOptions {
  @Option(
    "TIME",
    "How long to wait for a host that makes no progress, and for a service that asks for a pause, such as 30s or 10m; "
      + "then its pictures fail. 0 waits for nothing. (default: 60s)")
  var maxWait: Duration?

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    configuration.maximumWait = maxWait ?? .seconds(60)
  }
}
