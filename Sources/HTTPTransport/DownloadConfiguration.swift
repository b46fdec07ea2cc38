package import Foundation
package import ThumbnailCore

/// How downloads behave. Durations are wall time, sizes are bytes.
package struct DownloadConfiguration: Sendable {
  /// Transfers at once in all; default 16.
  package var maximumDownloads = 16
  /// Transfers at once to one host; default 6, what browsers use.
  package var maximumDownloadsPerHost = 6

  /// When the slots of silent transfers go to others.
  package var lending = LendingRules()

  /// Name resolution, TCP and TLS together may take this long; default 10 s.
  package var connectTimeout: Duration = .seconds(10)
  /// So long may nothing at all arrive once the request is sent; default 20 s.
  package var stallTimeout: Duration = .seconds(20)
  /// What must come at least, in bytes a second on average over each `rateWindow` from the first byte on; default 1000. 0
  /// for anything. The last attempt at a large body goes on all the same.
  package var minimumRate = 1000
  /// Default 20 s.
  var rateWindow: Duration = .seconds(20)
  /// All attempts and the pauses between them may take this long together, waiting for a slot not counted; default
  /// 300 s.
  package var totalTimeout: Duration = .seconds(300)

  /// Redirects followed in one attempt; default 5.
  var maximumRedirects = 5
  /// When and how often a failed attempt is repeated.
  package var retry = RetryPolicy()

  /// How hosts that ask for pauses or fail in a row are left alone.
  package var hosts = HostStates.Policy()
  /// How long may be waited in all for pauses of hosts; default 0: what would have to wait fails.
  package var maximumWait: Duration = .zero
  /// What is known of hosts by everybody who shares a cache; default nil, which shares with nobody.
  package var ledger: (any HostLedger)?
  /// Told when a host is left alone that something is wanted of.
  package var onHostNews: @Sendable (HostNews) -> Void = { _ in }

  /// The `User-Agent` of requests that bring none of their own; default `libcurl/VERSION`, since who asks is known to
  /// the caller alone.
  package var userAgent = CurlLibrary.name
  /// The `Accept` of picture requests that bring none of their own. It leaves AVIF out, the costliest to decode.
  var accept = "image/jpeg,image/png,image/webp;q=0.9,*/*;q=0.8"

  /// Bodies up to this size stay in memory; default 256 KiB.
  package var memoryBodyLimit = 256 << 10
  /// Where larger bodies go, as files without a name; the system's temporary directory stands in when it cannot be
  /// written. Meant to be the cache directory.
  package var spillDirectory = FileManager.default.temporaryDirectory

  /// Keeps the beginnings of large bodies for a later run; default nil, which keeps none.
  package var partialBodies: PartialStore?
  /// When an HTTP/1.1 body is stopped by its observer with at most so many bytes to come, they are read all the same;
  /// default 256 KiB.
  ///
  /// To stop closes the connection, and the next download opens another: one round trip for TCP, one or two for TLS, and
  /// about four until the window is wide again. At a round trip of 50 ms that takes 0.3 s, in which 256 KiB arrive at
  /// 7 Mbit/s; and much of a short rest is on its way already. A body of unknown length counts as longer.
  var longestRestWorthReading = 256 << 10

  /// A PEM file with the certificate authorities to trust in place of the system's; default nil.
  package var certificateAuthorityFile: String?
  /// Which proxy is used; default as the environment says.
  package var proxy = ProxyChoice.environment
  /// The certificates to show to hosts that ask for one; default none.
  package var clientCertificates: [ClientCertificate] = []

  package init() {}
}

/// When and how often a failed attempt is repeated. A pure value: the random numbers are the caller's.
package struct RetryPolicy: Sendable {
  /// Attempts in all, the first included; default 4.
  package var maximumAttempts = 4
  /// The first pause is between 0 and this long, each later one between 0 and twice the one before; default 0.5 s.
  var baseDelay: Duration = .milliseconds(500)
  /// No pause is longer than this; default 10 s.
  var maximumDelay: Duration = .seconds(10)

  /// How long to wait before the next attempt after `attempt` attempts; nil when there shall be none.
  ///
  /// "Full jitter": any pause up to the bound is equally likely, so that clients that failed together do not come back
  /// together. A pause that a server wishes concerns all of its pictures: `HostStates` sees to that, and none is added.
  func pause(
    after error: DownloadError, attempt: Int, using random: inout some RandomNumberGenerator
  ) -> Duration? {
    guard attempt < maximumAttempts, error.isTransient else { return nil }
    if error.isPause { return .zero }
    let bound = min(baseDelay * (1 << min(attempt - 1, 20)), maximumDelay)
    return bound * Double.random(in: 0..<1, using: &random)
  }
}
