import HTTPServer
import NIOHTTP1
import Synchronization
import ThumbnailCore
import Thumbnailer

/// Lets requests wait for their turn. Requests for stored thumbnails do not wait here.
final class RequestAdmission: Sendable {
  private struct State {
    var queue: RequestQueue
    var waiters: [RequestQueue.Ticket: Promise<Void, Never>] = [:]
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - limit: The most requests that wait or are worked on.
  ///   - making: The most that are worked on.
  init(limit: Int, making: Int) { state = Mutex(State(queue: RequestQueue(limit: limit, making: making))) }

  /// The requests that wait or are being worked on.
  var current: Int { state.withLock { $0.queue.count } }

  /// Does the work for a request once it is its turn.
  func whenAdmitted<Result>(
    _ party: RequestQueue.Party, _ work: () async throws(ServerResponse.Problem) -> Result
  ) async throws(ServerResponse.Problem) -> Result {
    let promise = Promise<Void, Never>()
    let ticket: RequestQueue.Ticket
    do throws(RequestQueue.Refusal) {
      ticket = try state.withLock { state throws(RequestQueue.Refusal) in
        let ticket = try state.queue.enter(party)
        state.waiters[ticket] = promise
        return ticket
      }
    } catch {
      throw ServerResponse.Problem(error)
    }
    change { _ in }
    defer {
      change { state in
        state.queue.leave(ticket, party)
        state.waiters[ticket] = nil
      }
    }
    await promise.wait { promise.resume(with: .success(())) }.get()
    return try await work()
  }

  /// Changes the queue, and resumes the requests whose turn has come.
  private func change(_ change: (inout State) -> Void) {
    let begun = state.withLock { state in
      change(&state)
      return state.queue.begin().map { state.waiters.removeValue(forKey: $0) }
    }
    for waiter in begun { waiter?.resume(with: .success(())) }
  }
}

extension ServerResponse.Problem {
  init(_ refusal: RequestQueue.Refusal) {
    let (status, what): (HTTPResponseStatus, String) =
      switch refusal {
      case .client: (.tooManyRequests, "too many of your pictures are being made")
      case .origin: (.serviceUnavailable, "too many requests wait for pictures of this server")
      case .all: (.serviceUnavailable, "too many pictures are being made")
      }
    self.init(status, "overloaded", "\(what); try again in a second", headers: ["retry-after": "1"])
  }

  static let stopping = Self(
    .serviceUnavailable, "stopping", "the server is about to end", headers: ["retry-after": "1"])
  static let methodNotAllowed = Self(
    .methodNotAllowed, "method-not-allowed", "this address is only read", headers: ["allow": "GET, HEAD"])

  /// The error of a pipeline.
  ///
  /// - Parameter namesSources: Whether its message may name files, hosts and addresses.
  init(_ error: ThumbnailError, namesSources: Bool) {
    self.init(
      HTTPResponseStatus(statusCode: error.httpStatus), error.code,
      namesSources ? error.message : error.messageForStrangers,
      headers: error.retryAfter.map { ["retry-after": "\(max(1, $0.components.seconds))"] } ?? [:])
  }
}

extension ThumbnailError {
  /// The error without the image's name, its host, or anything else of this machine and its network.
  var messageForStrangers: String {
    switch self {
    case .cancelled: "cancelled before it was done"
    case .invalidRequest(let reason): reason
    case .unsupportedSource: "pictures of this kind are not served"
    case .notFound: "there is no such picture"
    case .refused, .optedOut: "the picture's server refuses"
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
    case .notCached: "the picture is not stored, and no requests are sent at the moment"
    }
  }
}
