package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// The settings of downloads. Durations are wall time, sizes are bytes.
package struct DownloadConfiguration: Sendable {
  /// The most concurrent transfers in total; default 16.
  package var maximumDownloads = 16
  /// The most concurrent transfers per host; default 6, as in browsers.
  package var maximumDownloadsPerHost = 6

  /// When silent transfers lend their slots to others.
  package var silence = SilencePolicy()

  /// The timeout of name resolution, TCP and TLS together; default 10 s.
  package var connectTimeout: Duration = .seconds(10)
  /// The longest time without any bytes once the request is sent; default 20 s.
  package var stallTimeout: Duration = .seconds(20)
  /// The minimum average rate over each `rateWindow` from the first byte on, in bytes per second; default 1000. 0
  /// disables it. The last attempt at a large body is exempt.
  package var minimumRate = 1000
  /// The window of `minimumRate`; default 20 s.
  var rateWindow: Duration = .seconds(20)
  /// The timeout of all attempts and the pauses between them together, without waiting for a slot; default 300 s.
  package var totalTimeout: Duration = .seconds(300)

  /// The most redirects followed in one attempt; default 5.
  var maximumRedirects = 5
  /// When and how often a failed attempt is retried.
  package var retry = RetryPolicy()
  /// Waits for the pause before a further attempt.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

  /// When hosts are held, and for how long.
  package var hosts = HostHealth.Policy()
  /// How long downloads wait for a host without a response from it, and one download for the pauses that its server
  /// asks for; default 0: a download that would have to wait fails.
  package var maximumWait: Duration = .zero
  /// The states of hosts, shared by all processes with the same cache; default nil, which shares nothing.
  package var ledger: (any HostLedger)?
  /// Called when a host with pending downloads is paused.
  package var onHostPause: @Sendable (HostPause) -> Void = { _ in }

  /// The `User-Agent` of requests without their own; default nil, for `program` and libcurl's version.
  package var userAgent: String?
  /// The beginning of the default `User-Agent`, such as `thumbs/1.0`; default nil.
  package var program: String?
  /// The `User-Agent` to send. The default one loads libcurl, so nothing reads this before the first request.
  var sentUserAgent: String { userAgent ?? [program, CurlLibrary.name].compactMap { $0 }.joined(separator: " ") }
  /// The `Accept` of image requests without their own. It omits AVIF, the costliest to decode.
  var accept = "image/jpeg,image/png,image/webp;q=0.9,*/*;q=0.8"

  /// Bodies up to this size stay in memory; default 256 KiB.
  package var memoryBodyLimit = 256 << 10
  /// The directory of spill files for larger bodies, usually the cache directory; the system's temporary directory is
  /// used if it cannot be written.
  package var spillDirectory = FileManager.default.temporaryDirectory

  /// Keeps partial bodies for a later run; default nil, which keeps none.
  package var partialBodies: PartialStore?
  /// When an observer stops an HTTP/1.1 body with at most this many bytes left, they are read nevertheless; default 256
  /// KiB.
  ///
  /// Aborting closes the connection, and the next download opens another: one round trip for TCP, one or two for TLS,
  /// and about four until the congestion window is wide again. At a round trip of 50 ms that takes 0.3 s, in which 256
  /// KiB arrive at 7 Mbit/s; and much of a short rest is already in flight. A rest of unknown length is not read.
  var maximumDrainedBytes = 256 << 10

  /// A PEM file with the certificate authorities to trust instead of the system's; default nil.
  package var certificateAuthorityFile: String?
  /// The proxy; by default that of the environment.
  package var proxy = ProxyChoice.environment
  /// The addresses that connections may be made to; default all.
  package var addresses = AddressPolicy.any
  /// The directives with which a server forbids an image; default none.
  package var optOut = OptOut()
  /// How long the resolver may take to say that a host has no address; default 3 s. A name server that takes longer
  /// will not say so.
  var resolverPatience = Duration.seconds(3)
  /// The addresses of a host name, to be used in place of the resolver's if there are any; replaced in tests.
  var addressesOfHost: @Sendable (_ host: String) -> [String] = { _ in [] }
  /// The storage of `s3` URLs, and the keys for it; default nil: they are not fetched.
  package var objectStorage: ObjectStorage?
  /// Client certificates, each for the host that asks for it; default none.
  package var clientCertificates: [ClientCertificate] = []

  package init() {}
}
