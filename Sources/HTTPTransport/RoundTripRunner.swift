public import Foundation
public import HTTPSemantics
import Synchronization
import ThumbnailCore

/// Runs the transfers of a downloader.
protocol TransferRunner: Sendable {
  /// Runs one transfer. Cancelling the task ends it. The observer is not called after this returns.
  func perform(_ transfer: Transfer) async -> Result<Download, DownloadError>
}

/// Runs transfers with a program's own client.
struct RoundTripRunner: TransferRunner {
  let client: any HTTPRoundTripper

  func perform(_ transfer: Transfer) async -> Result<Download, DownloadError> {
    let watch = DeadlineWatch(transfer)
    // An own task, so that a deadline or a preemption can cancel it.
    let work = Task { await run(transfer, watch) }
    let watching = Task {
      await watch.wait()
      if !Task.isCancelled { work.cancel() }
    }
    defer { watching.cancel() }
    transfer.download?.begin { work.cancel() }
    return await withTaskCancellationHandler {
      await work.value
    } onCancel: {
      work.cancel()
    }
  }

  private func run(_ transfer: Transfer, _ watch: DeadlineWatch) async -> Result<Download, DownloadError> {
    var receiver = ResponseReceiver(transfer)
    var failure: DownloadError?
    do {
      try await receive(into: &receiver, watch)
    } catch {
      failure = watch.missed.map { .timedOut($0) } ?? mapped(error, receiver)
    }
    let result = receiver.result(failure, httpVersion: "")
    if case .failure = result { receiver.settlePartialBody(hasFailed: true) }
    return result
  }

  private func receive(into receiver: inout ResponseReceiver, _ watch: DeadlineWatch) async throws {
    let transfer = receiver.transfer
    guard let url = URL(string: transfer.url.text) else { throw DownloadError.invalidURL }
    let defaults = [
      HTTPHeader("Accept", transfer.accept), HTTPHeader("Accept-Encoding", "identity"),
      HTTPHeader("User-Agent", transfer.configuration.sentUserAgent),
    ]
    let response = try await client.roundTrip(
      HTTPRequest(
        url: url, headers: transfer.headers(defaults, adding: receiver.conditions),
        byteLimit: transfer.request.byteLimit))
    watch.recordArrival(1)
    guard (200...599).contains(response.status), response.headers.allSatisfy(\.isWellFormed) else {
      throw DownloadError.invalidResponse(reason: "its status or header is not HTTP")
    }
    guard receiver.receivedHead(status: response.status, headers: response.headers) else { return }
    if receiver.head.isEncoded, receiver.isSuccess, !transfer.ignoresContentEncoding {
      throw DownloadError.unknownEncoding(reason: "the program's client has not decompressed it")
    }
    try await response.receive { piece in
      watch.recordArrival(piece.count)
      return piece.withUnsafeBytes { receiver.receivedBody($0) }
    }
    guard receiver.stop == nil else { return }
    // A cancelled sequence may end without an error, but its body is not complete.
    try Task.checkCancellation()
    guard receiver.isSuccess, let expected = receiver.expected, receiver.body.count != expected else { return }
    // libcurl cuts a longer body off. Here it is unknown which of the two lengths is wrong.
    throw receiver.body.count < expected
      ? DownloadError.brokenOff(received: receiver.received, expected: expected)
      : .invalidResponse(reason: "its body is longer than its Content-Length")
  }

  private func mapped(_ error: any Error, _ receiver: ResponseReceiver) -> DownloadError {
    if let error = error as? DownloadError { return error }
    if Task.isCancelled || error is CancellationError { return .cancelled }
    if receiver.hasBodyBegun { return .brokenOff(received: receiver.received, expected: receiver.expected) }
    return switch error as? HTTPClientError {
    case .cancelled: .cancelled
    case .invalidResponse(let reason): .invalidResponse(reason: reason)
    case .unreachable(let reason): .unreachable(reason: reason)
    case .addressRefused: receiver.transfer.addressRefused
    case .paused(let pause): .hostPaused(host: receiver.transfer.url.shownHost, retryAfter: pause)
    case nil: .unreachable(reason: "\(error)")
    }
  }
}

/// Watches the deadlines of one transfer.
private final class DeadlineWatch: Sendable {
  private let state: Mutex<(deadlines: TransferDeadlines, missed: DownloadError.Deadline?)>

  init(_ transfer: Transfer) {
    state = Mutex((TransferDeadlines(transfer.configuration, timeLeft: transfer.timeLeft, start: .now), nil))
  }

  /// The deadline that has passed, if any.
  var missed: DownloadError.Deadline? { state.withLock { $0.missed } }

  func recordArrival(_ bytes: Int) {
    _ = state.withLock { $0.deadlines.recordArrival(bytes, at: ContinuousClock.now) }
  }

  /// Returns once a deadline has passed, or the task is cancelled.
  func wait() async {
    while !Task.isCancelled {
      let next = state.withLock { state -> ContinuousClock.Instant? in
        let (next, missed) = state.deadlines.check(now: ContinuousClock.now, connecting: nil)
        state.missed = missed
        return missed == nil ? next : nil
      }
      guard let next else { return }
      try? await Task.sleep(until: next, clock: .continuous)
    }
  }
}

/// Sends single HTTP requests in place of libcurl, so that a program can bring a client of its own
/// (`ThumbnailPipeline.Configuration.roundTripper`). Named after Go's interface for the same purpose.
///
/// The pipeline keeps doing everything else: slots and pauses of hosts, retries and back-off, redirects, header fields
/// for each host, conditional requests, resumed bodies, deadlines and limits. The settings of libcurl do not apply:
/// proxy, certificates, reuse of connections. A silent request does not lend its slot, and ends at its deadline.
public protocol HTTPRoundTripper: Sendable {
  /// Sends a GET and returns the response once its head has arrived.
  ///
  /// Sends exactly these header fields, `Host` and the fields that the connection needs. Returns the body as received:
  /// follows no redirects, adds no cookies or credentials, retries nothing. A response that it decompresses must lose
  /// its `Content-Encoding` and `Content-Length`. Calls are concurrent. The calling task is cancelled when the rest of
  /// the response is not needed, or when a deadline has passed. Then the method must return soon.
  ///
  /// - Throws: `HTTPClientError` if there is no response. Any other error counts as `unreachable`.
  func roundTrip(_ request: HTTPRequest) async throws -> HTTPStreamedResponse
}

/// A response whose body may still be arriving.
public struct HTTPStreamedResponse: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The header fields in the order received.
  public let headers: [HTTPHeader]
  /// Calls `body` with the bytes in order, in pieces of any length, until it returns false or the body ends.
  let receive: @Sendable (_ body: (Data) -> Bool) async throws -> Void

  /// A response with a complete body.
  public init(status: Int, headers: [HTTPHeader] = [], body: Data = Data()) {
    (self.status, self.headers) = (status, headers)
    receive = { receive in _ = body.isEmpty || receive(body) }
  }

  /// A response whose body arrives in pieces of any length. No more pieces are requested once enough bytes have
  /// arrived.
  public init<Pieces: AsyncSequence & Sendable>(status: Int, headers: [HTTPHeader] = [], pieces: Pieces)
  where Pieces.Element == Data {
    (self.status, self.headers) = (status, headers)
    receive = { body in
      for try await piece in pieces {
        guard body(piece) else { return }
      }
    }
  }
}
