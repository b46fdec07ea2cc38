import Foundation
import HTTPSemantics
import ThumbnailCore

/// One transfer of a download, as the curl thread needs it: a request to one URL, without redirects and retries.
struct Transfer: Sendable {
  let request: DownloadRequest
  let configuration: DownloadConfiguration
  /// The URL after the redirects so far, and the header fields for it.
  var route: RedirectChain
  /// Whether the server's `Content-Encoding` is ignored: it is wrong or unknown.
  var ignoresContentEncoding = false
  /// What is left of the total timeout.
  var timeLeft: Duration
  /// Whether no retry follows.
  var isLastAttempt = false
  var observer: (any BodyObserver)?
  /// The partial body of an earlier attempt, and where this one leaves its own when it breaks off.
  var partial: PartialBodyHandoff?
  /// See `BodyBuffer`.
  var spillMemory: WeightedSemaphore?
  /// Told when the transfer falls silent; nil where silence is not tracked.
  var slot: TransferSlot?

  /// The first transfer of a request.
  ///
  /// - Throws: An error for a URL that is not fetched, or a header field that would corrupt the request.
  init(_ request: DownloadRequest, _ configuration: DownloadConfiguration) throws(DownloadError) {
    let url = try CurlURL(parsing: request.url.absoluteString)
    switch url.scheme {
    case "http", "https": guard !url.host.isEmpty else { throw .invalidURL }
    // Allowed local files do not come this way: see `LocalFile`.
    case "file": throw .fileNotAllowed
    default: throw .unsupportedScheme(url.scheme)
    }
    for header in request.headers where !header.isWellFormed { throw .invalidHeader(name: header.name) }
    self.request = request
    self.configuration = configuration
    // A login in the URL follows the same rules as other fields.
    route = RedirectChain(
      url: url, headers: url.addingLogin(to: request.headers), maximumRedirects: configuration.maximumRedirects)
    timeLeft = configuration.totalTimeout
    try checkHost()
  }

  var url: CurlURL { route.url }

  /// The value of `Accept`, unless the request has its own.
  var accept: String {
    switch request.purpose {
    case .image: configuration.accept
    case .api: "application/json,*/*;q=0.8"
    }
  }

  /// The value of `Accept-Encoding`. Compression is declined for images: they are compressed already, and their length
  /// must be known. If the server compresses all the same, the body is decompressed, except with nil.
  var acceptedEncodings: String? {
    if ignoresContentEncoding { return nil }
    // With an empty string libcurl names all that it can decompress.
    return request.purpose == .api ? "" : "identity"
  }

  /// The header fields to send: the request's own, of `defaults` those that it lacks, and `conditions`.
  func headers(_ defaults: [HTTPHeader], adding conditions: [HTTPHeader]) -> [HTTPHeader] {
    route.headers + defaults.filter { route.headers.firstValue(of: $0.name) == nil } + conditions
  }

  /// The header fields to send by a client that adds none of its own.
  func headers(adding conditions: [HTTPHeader]) -> [HTTPHeader] {
    let defaults = [
      HTTPHeader("Accept", accept), HTTPHeader("Accept-Encoding", "identity"),
      HTTPHeader("User-Agent", configuration.sentUserAgent),
    ]
    return headers(defaults, adding: conditions)
  }

  /// Fields of a conditional request, for which a 304 counts as success. Not sent when resuming a body.
  var conditions: [HTTPHeader] {
    request.condition.map { $0.address == url.digest ? $0.headers : [] } ?? []
  }

  /// The certificate to send if the host asks for one.
  var clientCertificate: ClientCertificate? {
    configuration.clientCertificates.first { $0.host.matches(host: url.host, port: url.port) }
  }

  /// An empty buffer for its body.
  func makeBodyBuffer() -> BodyBuffer {
    switch request.purpose {
    case .image:
      BodyBuffer(memoryLimit: configuration.memoryBodyLimit, spillsTo: spillLocations, logger: configuration.logger)
    case .api: BodyBuffer(memoryLimit: request.byteLimit, spillsTo: [], logger: configuration.logger)
    }
  }

  /// Where a body that outgrows memory goes, in this order.
  var spillLocations: [SpillLocation] { configuration.spillLocations(spillMemory) }
}

extension DownloadConfiguration {
  /// Where a body that outgrows memory goes, in this order: two directories, then a file in `memory`.
  func spillLocations(_ memory: WeightedSemaphore?) -> [SpillLocation] {
    let directories = [spillDirectory.path, FileManager.default.temporaryDirectory.path]
    return directories.map { .directory($0) } + (memory.map { [.memory($0)] } ?? [])
  }
}
