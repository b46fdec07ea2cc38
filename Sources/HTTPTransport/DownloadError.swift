/// Why a download gave no body.
package enum DownloadError: Error, Sendable, Equatable {
  /// The deadlines a transfer can miss.
  package enum Deadline: String, Sendable {
    /// No connection in time.
    case connect
    /// Connected, but nothing more arrived.
    case stall
    /// Something arrives, but less than the minimum rate.
    case rate
    /// All attempts together took too long.
    case total
  }

  /// The task was cancelled.
  case cancelled
  /// Not a URL that libcurl can parse.
  case invalidURL
  /// A scheme other than `http`, `https` and, where allowed, `file`.
  case unsupportedScheme(String)
  /// A header field whose name or value would break the request apart.
  case invalidHeader(name: String)
  /// A `file` URL where files are not allowed.
  case fileNotAllowed
  /// No such file.
  case fileNotFound
  /// The file is there but cannot be read: a folder, a device, no permission.
  case fileUnreadable(reason: String)
  /// No connection: unknown name, refused, handshake failed. `reason` is libcurl's own text.
  case unreachable(reason: String)
  /// The server's certificate is not trusted.
  case untrusted(reason: String)
  /// The certificate that we were to show cannot be read or used.
  case unusableCertificate(reason: String)
  /// The file with the certificate authorities to trust cannot be read or used.
  case unusableAuthorities(reason: String)
  /// A deadline passed.
  case timedOut(Deadline)
  /// The server answered with a status that brings no picture. `retryAfter` is what the server asked for, not capped.
  case httpStatus(Int, retryAfter: Duration?)
  /// Nobody was asked: the host wants to be left alone for so long.
  case hostPaused(host: String, retryAfter: Duration)
  /// Nobody was asked: the host has failed too often in a row, the last time with `reason`. It is tried again after so
  /// long.
  case hostClosed(host: String, reason: String, retryAfter: Duration)
  /// More redirects than `limit`, be it a loop or not.
  case tooManyRedirects(limit: Int)
  /// A redirect to something that is not `http` or `https`.
  case redirectToUnsupportedScheme(String)
  /// The body is longer than `limit` bytes; `announced` is its length where the server told it.
  case tooLarge(limit: Int, announced: Int?)
  /// The connection ended before the body did.
  case brokenOff(received: Int, expected: Int?)
  /// The server sent another part of the body than it was asked for.
  case wrongRange
  /// What came back is not HTTP, or broken beyond reading.
  case invalidResponse(reason: String)
  /// The body is not compressed as the server says, from its first byte on.
  case unknownEncoding(reason: String)
  /// The body's observer will not have this picture; it knows why.
  case refusedByObserver
  /// The body could not be written to a file. `path` is the directory.
  case cannotStoreBody(path: String, reason: String)

  /// Whether nobody was asked, since the host is left alone for a while.
  var isOfHeldHost: Bool {
    switch self {
    case .hostPaused, .hostClosed: true
    default: false
    }
  }

  /// Whether it is the host's wish to be left alone for a while: not this picture's doing.
  var isPause: Bool {
    switch self {
    case .httpStatus(429, _), .httpStatus(503, .some): true
    default: false
    }
  }

  /// Whether another attempt may well succeed.
  var isTransient: Bool {
    switch self {
    case .unreachable, .brokenOff, .wrongRange, .timedOut(.connect), .timedOut(.stall), .timedOut(.rate): true
    case .httpStatus(let status, _): status == 408 || status == 429 || (500..<600).contains(status)
    default: false
    }
  }
}
