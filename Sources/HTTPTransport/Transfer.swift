import Foundation
import HTTPSemantics
import ThumbnailCore

/// One transfer of a download, as the curl thread needs it: a request to one URL, without redirects and retries.
struct Transfer: Sendable {
  let request: DownloadRequest
  private let settings: Settings
  var configuration: DownloadConfiguration { settings.configuration }
  /// The URL after the redirects so far.
  private(set) var url: CurlURL
  /// The request's own header fields that may be sent to it.
  private(set) var headers: [HTTPHeader]
  /// Signs the request for an object. Nil for other URLs and after a redirect, which no signature may follow.
  private var signer: ObjectStorage?
  var isSigned: Bool { signer != nil }
  private var redirects = 0
  /// Whether the server's `Content-Encoding` is ignored, because it is wrong or unknown.
  var ignoresContentEncoding = false
  /// Whether the whole body is requested although the beginning is there, because the server has refused the rest.
  var asksForWhole = false
  /// Whether the whole body is requested after such a refusal.
  var mayAskForWhole = true
  /// The remaining part of the total timeout.
  var timeLeft: Duration
  /// Whether no retry follows.
  var isLastAttempt = false
  var observer: (any BodyObserver)?
  /// The spill locations of a body that outgrows memory, in order.
  let spillLocations: [SpillLocation]
  /// The download of an image; nil for others, which lend no slots and leave no partial bodies.
  var download: DownloadState?

  /// The configuration, shared by all copies of a transfer, because it is large.
  private final class Settings: Sendable {
    let configuration: DownloadConfiguration

    init(_ configuration: DownloadConfiguration) { self.configuration = configuration }
  }

  /// The first transfer of a request. `spillMemory` lends the bytes of a file in memory, which is used if no directory
  /// has room.
  ///
  /// - Throws: An error for a URL that is not fetched, or for a header field that would corrupt the request.
  init(
    _ request: DownloadRequest, _ configuration: DownloadConfiguration, spillMemory: WeightedSemaphore? = nil
  ) throws(DownloadError) {
    signer = request.url.scheme == ObjectStorage.scheme ? configuration.objectStorage : nil
    if let signer {
      url = try signer.location(of: request.url)
    } else {
      url = try CurlURL(parsing: request.url.absoluteString)
    }
    switch url.scheme {
    case "http", "https": guard !url.host.isEmpty else { throw .invalidURL }
    // `LocalFile` reads allowed local files.
    case "file": throw .fileNotAllowed
    default: throw .unsupportedScheme(url.scheme)
    }
    for header in request.headers where !header.isWellFormed { throw .invalidHeader(name: header.name) }
    (self.request, settings) = (request, Settings(configuration))
    // A login in the URL is treated like other header fields.
    headers = url.addingLogin(to: request.headers)
    timeLeft = configuration.totalTimeout
    spillLocations = configuration.spillLocations(spillMemory)
    try checkHost()
  }

  /// Follows a `Location` field. If it leads to another host, the request's own header fields are dropped for good,
  /// because they may hold credentials.
  mutating func follow(_ location: String) throws(DownloadError) {
    guard redirects < configuration.maximumRedirects else {
      throw .tooManyRedirects(limit: configuration.maximumRedirects)
    }
    redirects += 1
    let next: CurlURL
    do {
      next = try CurlURL(parsing: location, relativeTo: url)
    } catch .invalidURL {
      throw .invalidResponse(reason: "a redirect to something that is not a URL")
    }
    guard next.scheme == "http" || next.scheme == "https" else { throw .redirectToUnsupportedScheme(next.scheme) }
    headers = next.addingLogin(to: url.sharesCredentials(with: next) ? headers : [])
    (url, signer) = (next, nil)
    try checkHost()
  }

  /// The value of `Accept`, unless the request has its own.
  var accept: String { request.purpose == .api ? "application/json,*/*;q=0.8" : configuration.accept }

  /// The header fields to send: a signature of this moment, the request's own, those of `defaults` that these lack, and
  /// `conditions`.
  func headers(_ defaults: [HTTPHeader], adding conditions: [HTTPHeader]) -> [HTTPHeader] {
    let signature = signer?.signature(for: url) ?? []
    let own = signature + headers.filter { signature.firstValue(of: $0.name) == nil }
    return own + defaults.filter { own.firstValue(of: $0.name) == nil } + conditions
  }

  /// An empty buffer for its body.
  func makeBodyBuffer() -> BodyBuffer {
    let isInMemory = request.purpose == .api
    return BodyBuffer(
      memoryLimit: isInMemory ? request.byteLimit : configuration.memoryBodyLimit,
      spillsTo: isInMemory ? [] : spillLocations)
  }
}

extension DownloadConfiguration {
  /// The spill locations of a body that outgrows memory, in order: two directories, then a file in `memory`.
  func spillLocations(_ memory: WeightedSemaphore?) -> [SpillLocation] {
    let directories = [spillDirectory.path, FileManager.default.temporaryDirectory.path]
    return directories.map { .directory($0) } + (memory.map { [.memory($0)] } ?? [])
  }
}
