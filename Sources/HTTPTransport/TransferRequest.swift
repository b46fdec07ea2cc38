import HTTPSemantics
import ThumbnailCore

/// Everything the curl thread needs for one transfer: one request, no redirects, no retries.
struct TransferRequest: Sendable {
  var url: CurlURL
  var headers: [HTTPHeader]
  /// Sent unless `headers` has its own.
  var userAgent: String
  /// Sent unless `headers` has its own.
  var accept: String
  var compression: TransferCompression
  /// Whether the body of an error status is kept. It is not passed to the observer.
  var keepsErrorBodies: Bool
  var byteLimit: Int
  var memoryLimit: Int
  /// See `BodyBuffer`.
  var spillDirectories: [String]
  /// See `BodyBuffer`.
  var spillMemory: WeightedSemaphore?
  /// See `DownloadConfiguration`.
  var longestRestWorthReading: Int
  var connectTimeout: Duration
  var stallTimeout: Duration
  /// What is left of the total timeout.
  var totalTimeout: Duration
  /// The minimum rate over each `rateWindow`, in bytes per second; 0 disables it.
  var minimumRate: Int
  var rateWindow: Duration
  /// Whether no retry follows.
  var isLastAttempt: Bool
  var certificateAuthorityFile: String?
  var proxy: ProxyChoice
  /// Sent only when this host asks for one.
  var clientCertificate: ClientCertificate?
  var observer: (any BodyObserver)?
  /// The partial body of an earlier attempt, and where this one leaves its own when it breaks off.
  var partial: PartialBodySlot?
  /// Told when the transfer falls silent; nil where silence is not tracked.
  var slot: TransferSlot?
  /// Fields of a conditional request, for which a 304 counts as success. Not sent when resuming a body.
  var conditions: [HTTPHeader] = []
}

/// How content encoding (compression) is negotiated.
enum TransferCompression: Sendable {
  /// Requested: it saves bytes.
  case welcome
  /// Declined, since images are compressed already and their length must be known. If the server compresses all the
  /// same, the body is decompressed.
  case unwelcome
  /// The server's `Content-Encoding` is ignored: it is wrong or unknown.
  case ignored
}

/// The response of one transfer, of any status.
struct TransferResponse: Sendable {
  var head: ResponseHead
  /// Whether it is a 304 to a conditional request.
  var isUnchanged: Bool
  var body: ByteSource
  var isComplete: Bool
  var receivedBytes: Int
  var expectedBytes: Int?
  var httpVersion: String
  var timeToFirstByte: Duration
}
