/// The reason why there is no thumbnail. Every case has a short `code` for programs and a `message` that says what to
/// do.
public enum ThumbnailError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The calling task was cancelled.
  case cancelled
  /// The request itself is invalid, such as a size of 0.
  case invalidRequest(reason: String)
  /// The source is of an unsupported kind: another scheme, or a file that the user did not name.
  case unsupportedSource(reason: String)
  /// The server has no such image (404, 410), or there is no such file.
  case notFound(reason: String)
  /// The server refuses (401, 403 and other client errors), or the file may not be read.
  case refused(status: Int?, reason: String)
  /// The server or host limits requests (429, or 503 with `Retry-After`), for `retryAfter` if it stated a time. The
  /// response may have been for another image.
  case rateLimited(retryAfter: Duration?)
  /// The server failed (5xx) at every attempt.
  case serverFailed(status: Int)
  /// No connection: name resolution, connecting or TLS failed, or the connection broke at every attempt.
  case unreachable(reason: String)
  /// No address of the URL, or of its redirect, is allowed (`Configuration.addresses`).
  case addressRefused(reason: String)
  /// The server forbids the use of the image by a directive of `X-Robots-Tag`.
  case optedOut(reason: String)
  /// The host is held, because it has failed several times in a row with other images, so no request was sent. The next
  /// request will be sent after `retryAfter`.
  case hostClosed(reason: String, retryAfter: Duration)
  /// A deadline has passed.
  case timedOut(reason: String)
  /// The image is beyond a limit of bytes, pixels, side length or frames, or every way to decode it takes too much
  /// memory.
  case tooLarge(reason: String)
  /// The bytes are not an image, but for example an HTML page.
  case notAPicture(reason: String)
  /// The bytes are a video. The image of a Live Photo is in another file.
  case video(reason: String)
  /// A RAW file without a readable preview. The sensor's samples are never developed.
  case noPreview(reason: String)
  /// An image in a format that is not decoded in process, or of a kind that no reader supports.
  case unsupportedFormat(reason: String)
  /// The helper process that decodes the image crashed, took too long or too much memory, or could not be started.
  case decoderFailed(reason: String)
  /// The image is truncated or damaged.
  case damaged(reason: String)
  /// The thumbnail cannot be written in the requested format.
  case cannotEncode(reason: String)
  /// The program's own processor (`ThumbnailProcessor`) has thrown an error.
  case processingFailed(reason: String)
  /// There is no writable directory for the body.
  case storageUnavailable(reason: String)
  /// The memory for decoding the image is not free at the moment.
  case memoryUnavailable(reason: String)
  /// The thumbnail is not stored, and nothing is downloaded in offline mode (`CacheMode.offline`).
  case notCached

  /// A thumbnail of more pixels than strangers may request, or one that would be enlarged.
  package static func tooManyPixels(_ most: Int) -> ThumbnailError {
    .invalidRequest(
      reason:
        "the thumbnail has more than \(most) pixels, or more than the picture: ask for a smaller one, or sign the "
        + "address")
  }

  /// A short, stable name for programs: `not-found`, `too-large` ….
  public var code: String {
    switch self {
    case .cancelled: "cancelled"
    case .invalidRequest: "invalid-request"
    case .unsupportedSource: "unsupported-source"
    case .notFound: "not-found"
    case .refused: "refused"
    case .rateLimited: "rate-limited"
    case .serverFailed: "server-failed"
    case .unreachable: "unreachable"
    case .addressRefused: "address-refused"
    case .optedOut: "opted-out"
    case .hostClosed: "host-closed"
    case .timedOut: "timed-out"
    case .tooLarge: "too-large"
    case .notAPicture: "not-a-picture"
    case .video: "video"
    case .noPreview: "raw-without-preview"
    case .unsupportedFormat: "unsupported-format"
    case .decoderFailed: "decoder-failed"
    case .damaged: "damaged"
    case .cannotEncode: "cannot-encode"
    case .processingFailed: "processing-failed"
    case .storageUnavailable: "storage-unavailable"
    case .memoryUnavailable: "memory-unavailable"
    case .notCached: "offline-miss"
    }
  }

  /// One line for people: the problem and what to do about it.
  public var message: String {
    switch self {
    case .cancelled: "cancelled before it was done"
    case .notCached:
      "not in the cache, and nothing is downloaded offline; fetch it once without that (cacheMode)"
    case .invalidRequest(let reason), .unsupportedSource(let reason), .notFound(let reason), .tooLarge(let reason),
      .notAPicture(let reason), .video(let reason), .noPreview(let reason), .decoderFailed(let reason),
      .damaged(let reason), .cannotEncode(let reason),
      .processingFailed(let reason), .storageUnavailable(let reason), .memoryUnavailable(let reason),
      .unsupportedFormat(let reason), .refused(_, let reason), .unreachable(let reason), .addressRefused(let reason),
      .optedOut(let reason),
      .hostClosed(let reason, _),
      .timedOut(let reason):
      reason
    case .rateLimited(let retryAfter):
      "the server asks for a pause; try again " + (retryAfter.map { "in \($0.inWords)" } ?? "later")
        + ", let a prefetch wait for it (maximumWait), or download less at once from one host (downloadsPerHost)"
    case .serverFailed(let status): "the server failed with status \(status) at every attempt; try again later"
    }
  }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
