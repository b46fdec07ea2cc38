import ArgumentParser
import Foundation
import Thumbnailer

/// When cached thumbnails are revalidated.
struct FreshnessOptions: ConfigurationOptions {
  @Flag(
    help: "Revalidate every picture in the cache, even a fresh one; unchanged pictures are not downloaded again.")
  var refresh = false

  @Option(
    "AGE",
    "Revalidate pictures that were fetched or confirmed longer ago than this, such as 30s, 10m, 12h, 7d or 0."
  )
  var maxAge: Duration?

  @Flag(help: "Send no requests: cached thumbnails of any age are used, and other pictures fail with offline-miss.")
  var offline = false

  @Flag(
    help: """
      Request pictures again that did not exist or were not pictures in the last hour, or were too large in the last day.
      """)
  var retryFailed = false

  func validate() throws {
    try checkOneOf([("--refresh", refresh), ("--max-age", maxAge != nil), ("--offline", offline)])
    try checkOneOf([("--offline", offline), ("--retry-failed", retryFailed)], "no requests are sent offline")
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
