import HTTPServer
import NIOHTTP1
import Synchronization
import Thumbnailer

/// Bounds the requests whose thumbnails are being made: beyond that, waiting longer helps nobody.
final class RequestAdmission: Sendable {
  private let limit: Int
  private let count = Mutex(0)

  init(limit: Int) { self.limit = limit }

  /// The requests that wait or are being worked on.
  var current: Int { count.withLock { $0 } }

  /// Whether there is room for another one, which then leaves once.
  func enter() -> Bool {
    count.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
  }

  func leave() { count.withLock { $0 -= 1 } }
}

extension ServerResponse.Problem {
  static let overloaded = Self(
    .tooManyRequests, "overloaded", "too many pictures are being made; try again in a second", retryAfter: 1)
  static let tooManyRequests = Self(
    .tooManyRequests, "rate-limited", "too many requests; try again in a second", retryAfter: 1)
  static let stopping = Self(.serviceUnavailable, "stopping", "the server is about to end", retryAfter: 1)
  static let methodNotAllowed = Self(.methodNotAllowed, "method-not-allowed", "this address is only read")

  /// The error of a pipeline.
  ///
  /// - Parameter namesSources: Whether its message may name files, hosts and addresses.
  init(_ error: ThumbnailError, namesSources: Bool) {
    self.init(
      HTTPResponseStatus(statusCode: error.httpStatus), error.code,
      namesSources ? error.message : error.messageForStrangers,
      retryAfter: error.retryAfter.map { max(1, Int($0.components.seconds)) })
  }
}

extension ThumbnailError {
  /// What is wrong, without the image's name, its host, or anything else of this machine and its network.
  var messageForStrangers: String {
    switch self {
    case .cancelled: "cancelled before it was done"
    case .invalidRequest(let reason): reason
    case .unsupportedSource: "pictures of this kind are not served"
    case .notFound: "there is no such picture"
    case .refused: "the picture's server refuses"
    case .rateLimited, .hostClosed: "the picture's server asks for a pause; try again later"
    case .serverFailed, .unreachable: "the picture's server failed or could not be reached; try again later"
    case .addressRefused: "pictures of this address are not served"
    case .timedOut: "the picture took too long; try again later"
    case .tooLarge: "the picture is too large"
    case .notAPicture: "this is not a picture"
    case .video: "this is a video"
    case .noPreview: "the RAW file holds no preview"
    case .unsupportedFormat: "pictures of this format are not served"
    case .decoderFailed: "the picture could not be decoded"
    case .damaged: "the picture is truncated or damaged"
    case .cannotEncode, .processingFailed: "the thumbnail could not be made"
    case .storageUnavailable, .memoryUnavailable: "the server is out of memory; try again later"
    case .notCached: "the picture is not stored, and nothing is fetched at the moment"
    }
  }
}
