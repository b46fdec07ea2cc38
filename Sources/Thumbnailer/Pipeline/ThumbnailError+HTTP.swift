/// The HTTP response for a failed request, and whether to retry it.
///
/// The article on extending has the table and the reason for each status.
extension ThumbnailError {
  /// The status of an HTTP response for this error, from a program that serves thumbnails as a gateway: 400 and above.
  public var httpStatus: Int {
    switch self {
    case .invalidRequest, .unsupportedSource: 400
    case .addressRefused: 403
    case .notFound: 404
    // Without a status it is a local file without permission to read, or a failed redirect.
    case .refused(let status, _): [nil, 401, 403, 451].contains(status) ? 403 : 502
    case .tooLarge: 413
    case .notAPicture, .video, .noPreview, .unsupportedFormat: 415
    case .damaged, .decoderFailed: 422
    case .cancelled: 499
    case .cannotEncode, .processingFailed: 500
    case .serverFailed, .unreachable: 502
    case .rateLimited, .hostClosed, .storageUnavailable, .memoryUnavailable: 503
    case .timedOut, .notCached: 504
    }
  }

  /// How long to wait before the same request, for `Retry-After`; nil if that is not known.
  public var retryAfter: Duration? {
    switch self {
    case .rateLimited(let retryAfter): retryAfter
    case .hostClosed(_, let retryAfter): retryAfter
    default: nil
    }
  }

  /// Whether the same request may succeed later, with no change to it, to the image or to the configuration.
  public var isTransient: Bool {
    switch self {
    case .cancelled, .rateLimited, .serverFailed, .unreachable, .hostClosed, .timedOut, .storageUnavailable,
      .memoryUnavailable:
      true
    case .invalidRequest, .unsupportedSource, .addressRefused, .notFound, .refused, .tooLarge, .notAPicture,
      .video, .noPreview, .unsupportedFormat, .decoderFailed, .damaged, .cannotEncode, .processingFailed, .notCached:
      false
    }
  }
}
