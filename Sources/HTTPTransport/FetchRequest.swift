import Foundation
import HTTPSemantics
import ThumbnailCore

/// One request with all its attempts and redirects, for an image or an API response. A pure value.
struct FetchRequest: Sendable {
  var url: CurlURL
  var headers: [HTTPHeader]
  var byteLimit: Int
  var accept: String
  /// See `TransferRequest`.
  var compression = TransferCompression.unwelcome
  /// See `TransferRequest`. Also: only 5xx error statuses are retried.
  var keepsErrorBodies = false
  var memoryLimit: Int
  /// See `BodyBuffer`.
  var spillDirectories: [String]
  /// See `BodyBuffer`.
  var spillMemory: WeightedSemaphore?
  /// Whether it reserves a share of the memory for bodies.
  var takesBodyShare = false
  var observer: (any BodyObserver)?
  /// See `TransferRequest`.
  var partial: PartialBodySlot?
  /// See `DownloadRequest`.
  var attempts: Int?
  /// See `DownloadRequest`.
  var downloadsPerHost: Int?
  var condition: DownloadCondition?
  /// Told when its server falls silent; nil where that does not matter.
  var silence: SilenceReport?

  /// Whether it waits while its host is held. Not if the image has alternate URLs or may be stale, nor for API
  /// requests, whose client decides itself.
  var mayWait: Bool { attempts == nil && !keepsErrorBodies }

  /// The transfer for the current URL of a redirect chain.
  func transferRequest(
    at route: RedirectChain, timeLeft: Duration, isLastAttempt: Bool, _ configuration: DownloadConfiguration
  ) -> TransferRequest {
    // Capped at a year, since adding a longer duration to the clock could overflow.
    let year = Duration.seconds(365 * 86_400)
    return TransferRequest(
      url: route.url, headers: route.headers, userAgent: configuration.userAgent, accept: accept,
      compression: compression, keepsErrorBodies: keepsErrorBodies, byteLimit: byteLimit,
      memoryLimit: memoryLimit, spillDirectories: spillDirectories, spillMemory: spillMemory,
      longestRestWorthReading: configuration.longestRestWorthReading,
      connectTimeout: min(configuration.connectTimeout, year),
      stallTimeout: min(configuration.stallTimeout, year), totalTimeout: min(timeLeft, year),
      minimumRate: configuration.minimumRate, rateWindow: configuration.rateWindow, isLastAttempt: isLastAttempt,
      certificateAuthorityFile: configuration.certificateAuthorityFile, proxy: configuration.proxy,
      clientCertificate: configuration.clientCertificates.first {
        $0.host.matches(host: route.url.host, port: route.url.port)
      }, observer: observer, partial: partial,
      conditions: condition?.address == route.url.digest ? condition?.headers ?? [] : [])
  }

  /// Validates the URL's scheme and the header fields. A login in the URL becomes an `Authorization` field and follows
  /// the same rules as other fields.
  static func checked(_ url: URL, headers: [HTTPHeader]) throws(DownloadError) -> (CurlURL, [HTTPHeader]) {
    guard let parsed = CurlURL(url.absoluteString) else { throw .invalidURL }
    switch parsed.scheme {
    case "http", "https":
      guard !parsed.host.isEmpty else { throw .invalidURL }
    // Allowed local files do not come this way: see `LocalFile`.
    case "file": throw .fileNotAllowed
    default: throw .unsupportedScheme(parsed.scheme)
    }
    for header in headers where !header.isWellFormed { throw .invalidHeader(name: header.name) }
    return (parsed, parsed.addingLogin(to: headers))
  }
}
