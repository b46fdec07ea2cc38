import ArgumentParser
import Foundation
import Thumbnailer

/// Work without connections.
struct OfflineOption: ParsableArguments {
  @Flag(
    help: "Send no requests: what is stored is used, of any age, and other pictures fail with offline-miss.")
  var offline = false
}

/// When cached thumbnails are revalidated.
struct FreshnessOptions: ConfigurationOptions {
  @Flag(
    help: """
      Revalidate every picture in the cache, even a fresh one, and request again what has failed lately; unchanged \
      pictures are not downloaded again.
      """)
  var refresh = false

  @OptionGroup var supply: OfflineOption

  var offline: Bool { supply.offline }

  func validate() throws {
    try checkOneOf([("--refresh", refresh), ("--offline", offline)])
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) {
    configuration.retriesFailures = refresh
    if refresh { configuration.cacheMode = .refresh }
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
