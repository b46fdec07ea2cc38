import HTTPSemantics
import ThumbnailCore

/// Everything the curl thread has to know about one transfer: one request, no redirects, no repetition.
struct TransferRequest: Sendable {
  var url: CurlURL
  var headers: [HTTPHeader]
  /// Sent unless `headers` has its own.
  var userAgent: String
  /// Sent unless `headers` has its own.
  var accept: String
  var compression: TransferCompression
  /// Whether the body of an error status is kept. It never reaches the observer.
  var keepsErrorBodies: Bool
  var byteLimit: Int
  var memoryLimit: Int
  /// See `BodyBuffer`.
  var spillDirectories: [String]
  /// See `BodyBuffer`.
  var spillMemory: ByteSemaphore?
  /// See `DownloadConfiguration`.
  var longestRestWorthReading: Int
  var connectTimeout: Duration
  var stallTimeout: Duration
  /// What is left of the total.
  var totalTimeout: Duration
  /// The least that must come, in bytes a second over each `rateWindow`; 0 for anything.
  var minimumRate: Int
  var rateWindow: Duration
  /// Whether no other follows when this one fails.
  var isLastAttempt: Bool
  var certificateAuthorityFile: String?
  var proxy: ProxyChoice
  /// Shown when this very host asks for one.
  var clientCertificate: ClientCertificate?
  var observer: (any BodyObserver)?
  /// What an earlier attempt has left, and where this one leaves what it brought when it breaks off.
  var partial: PartialBodySlot?
  /// Told when the transfer falls silent; nil where it may be silent for as long as it likes.
  var slot: TransferSlot?
  /// Fields that may be answered by a status without a body (304), which counts as success then. Not sent to go on with
  /// a body.
  var conditions: [HTTPHeader] = []
}

/// Whether a body may be compressed on its way.
enum TransferCompression: Sendable {
  /// Asked for: it saves bytes.
  case welcome
  /// Asked not to be: pictures are compressed already, and their length must be known. A server that does it all the
  /// same is understood.
  case unwelcome
  /// What the server says of it is not heard: it is wrong, or of no known kind.
  case ignored
}

/// What one transfer brought: any status at all.
struct TransferResponse: Sendable {
  var head: ResponseHead
  /// Whether it says that the body is still the one that is known, having been asked.
  var isUnchanged: Bool
  var body: ByteSource
  var isComplete: Bool
  var receivedBytes: Int
  var expectedBytes: Int?
  var httpVersion: String
  var timeToFirstByte: Duration
}
