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
  static let methodNotAllowed = Self(.methodNotAllowed, "method-not-allowed", "this address is only read")

  /// The error of a pipeline. Messages name files and hosts, which are the user's own on a gallery's page.
  init(_ error: ThumbnailError) {
    self.init(
      HTTPResponseStatus(statusCode: error.httpStatus), error.code, error.message,
      retryAfter: error.retryAfter.map { max(1, Int($0.components.seconds)) })
  }
}
