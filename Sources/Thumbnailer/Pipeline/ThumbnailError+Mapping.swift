import DecodeSandbox
import HTTPTransport
import ImageCodec
import ThumbnailCore

/// Maps the stages' own errors to the pipeline's, with messages that say what to do.
extension ThumbnailError {
  /// Why there is no body.
  init(_ error: DownloadError) {
    switch error {
    case .cancelled:
      self = .cancelled
    case .invalidURL:
      self = .unsupportedSource(reason: "not a URL that can be fetched; check its spelling")
    case .unsupportedScheme(let scheme):
      self = .unsupportedSource(reason: "\(scheme): is not fetched; give an http or https URL, or a path")
    case .invalidHeader(let name):
      self = .invalidRequest(reason: "the header \(name) cannot be sent; it has a line break or an odd character")
    case .fileNotAllowed:
      self = .unsupportedSource(reason: "a file is read only when you name it yourself, not from a list or a search")
    case .fileNotFound:
      self = .notFound(reason: "no such file; check its path")
    case .fileUnreadable(let reason):
      self = .refused(status: nil, reason: "the file cannot be read: \(reason)")
    case .addressRefused(let host):
      self = .addressRefused(
        reason: "\(DownloadError.addressRefusal(host)); check the address, or allow its network (addresses)")
    case .unreachable, .noResponse, .unresolved, .unknownHost, .untrusted, .unusableAuthorities, .unusableCertificate:
      self = .unreachable(reason: Self.reason(noConnection: error))
    case .timedOut(let deadline):
      self = .timedOut(reason: Self.reason(missed: deadline))
    case .httpStatus(let status, let retryAfter):
      self = Self.status(status, retryAfter: retryAfter)
    case .hostPaused(_, let retryAfter):
      self = .rateLimited(retryAfter: retryAfter)
    case .hostClosed(let host, let reason, let retryAfter):
      self = .hostClosed(
        reason: "\(host) is left alone, having failed several times in a row (\(reason)); "
          + "try again in \(retryAfter.inWords)",
        retryAfter: retryAfter)
    case .tooManyRedirects(let limit):
      self = .refused(status: nil, reason: "more than \(limit) redirects; the address leads in a circle")
    case .redirectToUnsupportedScheme(let scheme):
      self = .refused(status: nil, reason: "redirects to \(scheme):, which is not followed")
    case .tooLarge(let limit, let announced):
      self = .tooLarge(
        reason: (announced.map { "the file has \(ByteSize(bytes: $0))" } ?? "the file is longer than the limit")
          + ", more than the limit of \(ByteSize(bytes: limit)); raise the limit (maximumSourceBytes)")
    case .brokenOff(let received, let expected):
      self = .unreachable(
        reason: "the transfer broke off after \(received)" + (expected.map { " of \($0)" } ?? "") + " bytes; try again")
    case .wrongRange, .partUnavailable:
      self = .unreachable(reason: "the server sends other parts of the file than it is asked for; try again later")
    case .unknownEncoding(let reason):
      self = .unreachable(reason: "the answer cannot be unpacked: \(reason)")
    case .invalidResponse(let reason):
      self = .unreachable(reason: "the answer makes no sense: \(reason)")
    case .optedOut(let directive):
      self = .optedOut(reason: "the server forbids the use of its picture (X-Robots-Tag: \(directive))")
    case .refusedByObserver:
      self = .notAPicture(reason: "the beginning of the file is not that of a picture")
    case .noResources(let reason):
      self = .memoryUnavailable(reason: "no request can be made: \(reason); try again when more is free")
    case .cannotStoreBody(let path, let reason):
      self = .storageUnavailable(
        reason:
          "no room for the download in \(path): \(reason), nor in the temporary folder or the memory budget; free some "
          + "space, or choose another folder (cacheDirectory)")
    }
  }

  /// Why there is no connection to a server.
  private static func reason(noConnection error: DownloadError) -> String {
    switch error {
    case .unknownHost(let host):
      "no address is known for \(host); check its spelling"
    case .untrusted(let reason):
      "the server's certificate is not trusted: \(reason); if you know the server, name a PEM file with its authority "
        + "(certificateAuthorityFile)"
    case .unusableAuthorities(let reason):
      "\(reason); give a PEM file of certificate authorities (certificateAuthorityFile)"
    case .unusableCertificate(let reason):
      "the client certificate cannot be used: \(reason); check its file, its key and the key's password"
    case .unreachable(let reason), .noResponse(let reason), .unresolved(_, let reason):
      "cannot be reached: \(reason); check the network and the address"
    default: "\(error)"
    }
  }

  private static func reason(missed deadline: DownloadError.Deadline) -> String {
    switch deadline {
    case .connect: "no connection in time; check the network, or try again later"
    case .stall: "the transfer stalled; try again later"
    case .rate: "the server sends too few bytes a second; try again later"
    case .total: "the download took too long in all; try again later"
    }
  }

  /// Why there is no memory for a decode.
  init(_ error: WeightedSemaphore.Failure) {
    switch error {
    case .cancelled: self = .cancelled
    // A decode that fits into the budget is refused only because of bodies that should be on disk.
    case .exceedsCapacity:
      self = .storageUnavailable(
        reason:
          "the download had to stay in memory, for no disk had room for it, and too little of the memory budget is "
          + "left to decode it; free some space, or raise the budget (memoryBudget)")
    }
  }

  /// The error for an HTTP status.
  private static func status(_ status: Int, retryAfter: Duration?) -> ThumbnailError {
    switch status {
    case 404, 410: .notFound(reason: "the server has no such picture (status \(status))")
    case 429: .rateLimited(retryAfter: retryAfter)
    case 503 where retryAfter != nil: .rateLimited(retryAfter: retryAfter)
    case 500...: .serverFailed(status: status)
    case 407:
      .refused(status: status, reason: "the proxy wants a login: http://user:password@host:port (proxy)")
    case 401, 403:
      .refused(
        status: status,
        reason: "the server does not allow it (status \(status)); give it the credentials it wants (headers)")
    // No working server sends it for an unconditional request.
    case 304:
      .refused(
        status: status,
        reason: "the server responds that the picture has not changed (status 304) to a request without a condition; "
          + "try again later")
    default: .refused(status: status, reason: "the server answered with status \(status); check the address")
    }
  }

  /// Why a body cannot be made into a thumbnail.
  init(_ error: CodecError, of configuration: ThumbnailPipeline.Configuration) {
    switch error {
    case .cancelled:
      self = .cancelled
    case .notAPicture(CodecError.video):
      self = .video(reason: "a video; thumbnails are made of pictures only")
    case .noPreview:
      self = .noPreview(
        reason: "\(error), and its sensor's samples are not developed; export it from a RAW converter as JPEG")
    case .empty, .notAPicture:
      self = .notAPicture(reason: "\(error); check what is there")
    case .unsupportedFormat(let format):
      self = .unsupportedFormat(
        reason: "\(format.displayName) is decoded in a helper process only, and from the web if that is allowed "
          + "(isolation); allow it, or convert the picture to JPEG, PNG or WebP first")
    case .notForStrangers(let most):
      self = .tooManyPixels(most)
    case .unsupported:
      self = .unsupportedFormat(reason: "\(error); convert the picture to JPEG, PNG or WebP first")
    case .limitExceeded(.pixels, _, _):
      self = .tooLarge(reason: "\(error); raise the limit (maximumPixels)")
    case .limitExceeded(.bytes, _, _):
      self = .tooLarge(reason: "\(error); raise the limit (maximumSourceBytes)")
    case .limitExceeded:
      self = .tooLarge(reason: "\(error); shrink the picture first")
    case .exceedsMemoryBudget:
      let limit =
        configuration.isolation.isInProcess ? "budget (memoryBudget)" : "helper's limit (isolation.memoryLimit)"
      self = .tooLarge(reason: "\(error); raise the \(limit)")
    case .outOfMemory:
      self = .memoryUnavailable(reason: "\(error); try again when more is free")
    case .truncated, .damaged, .handedOver, .needsLibvips:
      let advice =
        configuration.damaged == .accept ? "" : ", or accept its readable part (damaged)"
      self = .damaged(reason: "\(error); get a whole copy of the picture\(advice)")
    case .invalidSize, .cropOutside:
      self = .invalidRequest(reason: "\(error)")
    case .needsAllPixels:
      self = .invalidRequest(reason: "\(error): ask for all of it")
    case .decoderUnavailable, .libraryUnavailable, .encoderUnavailable:
      self = .cannotEncode(reason: "\(error); install the libvips of your distribution with all its loaders")
    case .processorUnavailable:
      self = .invalidRequest(reason: "\(error); add it to the configuration (processors)")
    case .processorFailed:
      self = .processingFailed(reason: "\(error)")
    case .helperFailed(let failure):
      self = .decoderFailed(reason: "\(failure); \(Self.advice(failure, of: configuration.isolation))")
    case .unreadableBody:
      self = .storageUnavailable(reason: "\(error)")
    }
  }

  /// The advice for a failed helper.
  private static func advice(_ failure: HelperFailure, of isolation: DecodeIsolation) -> String {
    switch failure {
    case .cancelled, .nonsense: "get a whole copy of the picture"
    case .cannotStart: "name a helper of this version (isolation.executable)"
    case .notConfined: "use another kernel, or do not require it (isolation.requiresConfinement)"
    case .crashed:
      "the picture is damaged, or needs more than \(isolation.memoryLimit) (isolation.memoryLimit)"
    case .tooSlow: "the picture is damaged, or needs more time (isolation.deadline)"
    case .outOfMemory: "raise the limit (isolation.memoryLimit)"
    case .imageMagickOutOfMemory:
      "raise the limits (isolation.memoryLimit), also that in ImageMagick's policy.xml (memory), or convert the "
        + "picture to PNG first"
    }
  }
}

/// The HTTP response for a failed request, and whether to retry it.
///
/// The article on extending has the table and the reason for each status.
extension ThumbnailError {
  /// The status of an HTTP response for this error, from a program that serves thumbnails as a gateway: 400 and above.
  public var httpStatus: Int {
    switch self {
    case .invalidRequest, .unsupportedSource: 400
    case .addressRefused, .optedOut: 403
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
    case .invalidRequest, .unsupportedSource, .addressRefused, .optedOut, .notFound, .refused, .tooLarge, .notAPicture,
      .video, .noPreview, .unsupportedFormat, .decoderFailed, .damaged, .cannotEncode, .processingFailed, .notCached:
      false
    }
  }
}
