import Foundation
import HTTPSemantics
import ThumbnailCore

/// One request with all its attempts and redirects, be it for a picture or for a small answer. A pure value.
struct FetchRequest: Sendable {
  var url: CurlURL
  var headers: [HTTPHeader]
  var byteLimit: Int
  var accept: String
  /// See `TransferRequest`.
  var compression = TransferCompression.unwelcome
  /// See `TransferRequest`. Also: of an error status only 5xx is worth another attempt.
  var keepsErrorBodies = false
  var memoryLimit: Int
  /// See `BodyBuffer`.
  var spillDirectories: [String]
  /// See `BodyBuffer`.
  var spillMemory: ByteSemaphore?
  /// Whether its body counts among those that share the memory for bodies.
  var takesBodyShare = false
  var observer: (any BodyObserver)?
  /// See `TransferRequest`.
  var partial: PartialBodySlot?
  /// See `DownloadRequest`.
  var attempts: Int?
  /// See `DownloadRequest`.
  var downloadsPerHost: Int?
  var condition: DownloadCondition?
  /// Told when its server falls silent; nil where nobody wants to know.
  var silence: SilenceReport?

  /// Whether it waits while its host is left alone. Not where the picture is to be had elsewhere or may be stale, nor for
  /// the answers of a service: whoever asked that decides itself.
  var mayWait: Bool { attempts == nil && !keepsErrorBodies }

  /// What is sent at one stop of the route.
  func order(
    at route: RedirectChain, timeLeft: Duration, isLastAttempt: Bool, _ configuration: DownloadConfiguration
  ) -> TransferRequest {
    // Beyond a year there is no deadline; without a bound, adding one to the clock could overflow.
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

  /// Checks what the caller gave: a URL of a scheme that may be used, and header fields that stay one line. A login in
  /// the URL becomes a field, and with that goes where the others may go.
  static func checked(_ url: URL, headers: [HTTPHeader]) throws(DownloadError) -> (CurlURL, [HTTPHeader]) {
    guard let parsed = CurlURL(url.absoluteString) else { throw .invalidURL }
    switch parsed.scheme {
    case "http", "https":
      guard !parsed.host.isEmpty else { throw .invalidURL }
    // Those that may be read do not come this way: see `LocalFile`.
    case "file": throw .fileNotAllowed
    default: throw .unsupportedScheme(parsed.scheme)
    }
    for header in headers where !header.isWellFormed { throw .invalidHeader(name: header.name) }
    return (parsed, parsed.addingLogin(to: headers))
  }
}
