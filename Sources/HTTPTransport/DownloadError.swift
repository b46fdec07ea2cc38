/// Why a download failed.
package enum DownloadError: Error, Sendable, Equatable {
  /// The deadlines a transfer can miss.
  package enum Deadline: String, Sendable {
    /// No connection in time.
    case connect = "no connection in time"
    /// Connected, but then no bytes arrived.
    case stall = "the server fell silent"
    /// Bytes arrive, but below the minimum rate.
    case rate = "the server was too slow"
    /// All attempts together took too long.
    case total = "no complete response in time"
  }

  /// The task was cancelled.
  case cancelled
  /// Not a URL that libcurl can parse.
  case invalidURL
  /// A scheme other than `http`, `https` and, where allowed, `file`.
  case unsupportedScheme(String)
  /// A header field whose name or value would corrupt the request.
  case invalidHeader(name: String)
  /// A `file` URL where files are not allowed.
  case fileNotAllowed
  /// The file does not exist.
  case fileNotFound
  /// The file exists but cannot be read: a folder, a device, no permission.
  case fileUnreadable(reason: String)
  /// No connection: refused, handshake failed, the proxy's name unknown. `reason` is libcurl's own message.
  case unreachable(reason: String)
  /// Connected, but the connection ended before the response began. `reason` is libcurl's own message.
  case noResponse(reason: String)
  /// The name of `host` was not resolved. `reason` is libcurl's own message.
  case unresolved(host: String, reason: String)
  /// The host has no address according to the resolver, now or less than a minute ago.
  case unknownHost(String)
  /// No address of the URL, or of what it redirects to, is allowed (`AddressPolicy`). `host` is the requested host; nil
  /// if that is an IP address, so that the error reveals no address.
  case addressRefused(host: String?)
  /// The server's certificate is not trusted.
  case untrusted(reason: String)
  /// The configured client certificate cannot be read or used.
  case unusableCertificate(reason: String)
  /// The file with the certificate authorities to trust cannot be read or used.
  case unusableAuthorities(reason: String)
  /// A deadline passed.
  case timedOut(Deadline)
  /// An error status. `retryAfter` is the server's value, not capped.
  case httpStatus(Int, retryAfter: Duration?)
  /// No request was sent: the host asked for a pause with this much left.
  case hostPaused(host: String, retryAfter: Duration)
  /// No request was sent: the host is held after failures of several images, the last one `reason`. It is
  /// tried again after `retryAfter`.
  case hostClosed(host: String, reason: String, retryAfter: Duration)
  /// More redirects than `limit`, in a loop or not.
  case tooManyRedirects(limit: Int)
  /// A redirect to something that is not `http` or `https`.
  case redirectToUnsupportedScheme(String)
  /// The body is longer than `limit` bytes; `announced` is its length if the server announced it.
  case tooLarge(limit: Int, announced: Int?)
  /// The connection ended before the body did.
  case brokenOff(received: Int, expected: Int?)
  /// The server sent another range of the body than requested.
  case wrongRange
  /// The server does not send the requested part of the body: because of a fault, or because it has another version.
  case partUnavailable(isFault: Bool)
  /// The response is not HTTP, or malformed.
  case invalidResponse(reason: String)
  /// The body does not have the announced content encoding, from its first byte on.
  case unknownEncoding(reason: String)
  /// The server forbids the use of its image by this directive of `X-Robots-Tag`.
  case optedOut(directive: String)
  /// The observer rejected the image and keeps the reason.
  case refusedByObserver
  /// libcurl has no memory, thread or socket for the request. The host is not to blame.
  case noResources(reason: String)
  /// The body could not be written to a file. `path` is the directory.
  case cannotStoreBody(path: String, reason: String)

  /// Whether no request was sent because the host is held.
  var isOfHeldHost: Bool {
    switch self {
    case .hostPaused, .hostClosed: true
    default: false
    }
  }

  /// Whether the server asks for a pause.
  var isPause: Bool {
    switch self {
    case .httpStatus(429, _), .httpStatus(503, .some): true
    default: false
    }
  }

  /// The pause that the server asks for; nil if it names none.
  var requestedPause: Duration? {
    if isPause, case .httpStatus(_, let pause) = self { pause } else { nil }
  }
}
