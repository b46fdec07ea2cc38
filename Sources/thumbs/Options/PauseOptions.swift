import ArgumentParser
import Thumbnailer

/// How long a run waits out rate limits.
struct PauseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      How long to wait in all for hosts and services that ask for a pause or fail in a row, such as 30s or 10m; what \
      would take longer fails. 0 waits for nothing. (default: 60s)
      """, valueName: "TIME"), transform: Duration.option)
  var maxWait: Duration?

  /// The configuration with these options applied.
  func applied(to configuration: ThumbnailPipeline.Configuration) -> ThumbnailPipeline.Configuration {
    var configuration = configuration
    configuration.maximumWait = maxWait ?? .seconds(60)
    return configuration
  }
}
