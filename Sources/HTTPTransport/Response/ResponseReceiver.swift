import Foundation
import HTTPSemantics

/// Receives one response, its head line by line and then its body, and decides when to stop.
///
/// Independent of libcurl: the caller passes the received bytes, and aborts the transfer if a method returns false.
/// `PartialBody.swift` resumes the body of an earlier attempt.
struct ResponseReceiver {
  /// Why receiving was stopped.
  enum Stop {
    /// The observer needs no more.
    case enough
    /// A status other than success whose body is not needed.
    case statusSuffices
    case failed(DownloadError)
  }

  /// The body of an error or a redirect is read and dropped up to this length, to keep the connection; beyond it, the
  /// connection is closed.
  private static let maximumSkippedBytes = 16 << 10

  /// The most bytes of head, trailers and interim responses together. No server needs more.
  private static let maximumHeadBytes = 128 << 10

  let transfer: Transfer
  /// Whether reading the body to its end keeps the connection open, which aborting would close.
  var mayKeepConnection: () -> Bool = { false }
  private(set) var head = ResponseHead()
  private var headLength = 0
  var body: BodyBuffer
  private(set) var hasBodyBegun = false
  /// The announced length of the whole body or of the requested part.
  var expected: Int?
  /// The part of the body that this response delivers; nil for a whole body.
  private(set) var part: DeliveredPart?
  /// The bytes of the body received in this transfer.
  private(set) var received = 0
  /// The observer has said *enough*, but reading the short rest is cheaper than closing the connection.
  private(set) var isDraining = false
  /// Why receiving was stopped; nil while it continues, and after a complete response.
  private(set) var stop: Stop?

  /// The partial body of an earlier attempt, until the response resumes or replaces it.
  var earlier: PartialBody?
  /// The version of the body, if it can be resumed.
  var version: BodyVersion?

  /// Prepares for a response. Takes the partial body of an earlier attempt.
  init(_ transfer: Transfer) {
    self.transfer = transfer
    body = transfer.makeBodyBuffer()
    earlier = transfer.download?.takePartialBody(from: transfer.url)
    let validators = transfer.request.condition.map { $0.address == transfer.url.digest ? $0.headers : [] } ?? []
    isConditional = earlier == nil && transfer.request.part == nil && !validators.isEmpty
    conditions =
      earlier.map { transfer.asksForWhole ? [] : $0.requestHeaders } ?? transfer.request.part?.requestHeaders
      ?? validators
  }

  /// Request fields that avoid needless bytes: the range of the rest or of a part of the body, or conditions.
  let conditions: [HTTPHeader]
  /// Whether the response may be a 304.
  let isConditional: Bool

  var isSuccess: Bool { (200..<300).contains(head.status) }
  private var isWanted: Bool { isSuccess || (transfer.request.purpose == .api && head.redirectLocation == nil) }

  /// Whether the status matters more than a failure of the rest of the response.
  var statusSuffices: Bool { hasBodyBegun && !isWanted }

  /// Whether the transfer may be slow: the last attempt at a large body, because slow is better than failing.
  var mayBeSlow: Bool { transfer.isLastAttempt && isSuccess && (expected ?? body.count) >= Self.largeBody }
  private static let largeBody = 256 << 10

  // MARK: Receiving

  /// Takes the next line of the head or the trailers. False aborts the transfer.
  mutating func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    headLength += line.count
    guard headLength <= Self.maximumHeadBytes else {
      return end(.failed(.invalidResponse(reason: "the header is longer than \(Self.maximumHeadBytes >> 10) KiB")))
    }
    // Trailers are ignored.
    guard !hasBodyBegun, head.take(line) else { return true }
    return beginBody(announced: head.contentLength)
  }

  /// Takes the next bytes of the body. False aborts the transfer.
  mutating func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard hasBodyBegun else { return end(.failed(.invalidResponse(reason: "a body without a header"))) }
    received += bytes.count
    guard isWanted else {
      return received <= Self.maximumSkippedBytes || end(.statusSuffices)
    }
    if let part, body.count + bytes.count > part.range.count { return end(.failed(.partUnavailable(isFault: true))) }
    guard body.count + bytes.count <= transfer.request.byteLimit else {
      return end(.failed(.tooLarge(limit: transfer.request.byteLimit, announced: expected)))
    }
    let verdict = isSuccess ? transfer.observer?.bodyReceived(bytes, at: body.count) ?? .more : .more
    if verdict == .refuse, !isDraining { return end(.failed(.refusedByObserver)) }
    do throws(DownloadError) { try body.append(bytes) } catch { return end(.failed(error)) }
    return verdict != .enough || isDraining || endWithEnough()
  }

  /// The result of the transfer, which has completed or failed. Call it once.
  mutating func result(_ failure: DownloadError?, httpVersion: String) -> Result<Download, DownloadError> {
    // A response without a body has not called `beginBody`, which may find a failure.
    if failure == nil, !hasBodyBegun { _ = beginBody(announced: 0) }
    switch stop {
    case .failed(let error): return .failure(error)
    case .enough, .statusSuffices: return .success(download(isComplete: false, httpVersion))
    case nil: break
    }
    var failure = failure
    if failure == nil, let part, !isDraining, body.count < part.range.count {
      failure = .brokenOff(received: received, expected: part.range.count)
    }
    guard let failure else { return .success(download(isComplete: true, httpVersion)) }
    // The response is usable nevertheless if the rest was only read to keep the connection, or if only the status
    // matters.
    return isDraining || statusSuffices ? .success(download(isComplete: false, httpVersion)) : .failure(failure)
  }

  private mutating func download(isComplete: Bool, _ httpVersion: String) -> Download {
    settlePartialBody(hasFailed: false)
    return Download(
      head: head, isUnchanged: isConditional && head.status == 304, body: body.finish(), part: part,
      isComplete: isComplete && part?.isWhole != false, receivedBytes: received, expectedBytes: part?.total ?? expected,
      httpVersion: httpVersion, url: transfer.url)
  }

  private mutating func beginBody(announced: Int?) -> Bool {
    hasBodyBegun = true
    transfer.observer?.responseBegins(head)
    if isSuccess, let directive = optOutDirective { return end(.failed(.optedOut(directive: directive))) }
    expected = !transfer.ignoresContentEncoding && head.isEncoded ? nil : announced
    let lengthProblem = head.lengthProblem
    if let lengthProblem, isWanted { return end(.failed(.invalidResponse(reason: lengthProblem))) }
    if let earlier, isSuccess || head.status == 416 {
      if head.status == 206 || head.status == 416 { return resume(earlier) }
      // The image has changed, or the server does not support ranges after all.
      dropEarlierBody()
    } else if let refusal = earlier?.refusal(head), transfer.mayAskForWhole {
      return end(.failed(refusal))
    } else if let requested = transfer.request.part {
      part = DeliveredPart(head, of: requested)
      if part == nil, let refusal = requested.refusal(head) { return end(.failed(refusal)) }
      expected = part?.range.count ?? expected
    } else if head.status == 206 {
      return end(.failed(.invalidResponse(reason: "a part of the file that was not requested")))
    }
    guard isWanted else {
      // With an invalid length, the end of the body is unknown.
      return lengthProblem == nil && (announced ?? 0) <= Self.maximumSkippedBytes || end(.statusSuffices)
    }
    let total = part?.total ?? expected
    if let total, total > transfer.request.byteLimit {
      return end(.failed(.tooLarge(limit: transfer.request.byteLimit, announced: total)))
    }
    body.prepare(for: expected)
    if part == nil { spillToNamedFile() }
    if isSuccess { transfer.observer?.bodyBegins(expectedLength: total) }
    return true
  }

  /// The directive with which the server forbids the image.
  private var optOutDirective: String? {
    let configuration = transfer.configuration
    return configuration.optOut.directive(
      in: head.headers, userAgent: transfer.headers.firstValue(of: "User-Agent") ?? configuration.sentUserAgent)
  }

  /// Stops because the observer needs no more bytes, unless it is cheaper to read the rest and keep the connection.
  mutating func endWithEnough() -> Bool {
    let isLast = head.headers.firstValue(of: "Connection")?.lowercased().contains("close") == true
    // After the last byte the transfer ends by itself.
    isDraining =
      body.count == expected
      || !isLast
        && expected.map { $0 - body.count <= transfer.configuration.maximumDrainedBytes } == true && mayKeepConnection()
    return isDraining || end(.enough)
  }

  /// Moves the body out of memory for good. False if it cannot be written to a file. Then it stays in memory.
  mutating func leaveMemory() -> Bool {
    do throws(DownloadError) { try body.leaveMemory() } catch { return false }
    return true
  }

  mutating func end(_ reason: Stop) -> Bool {
    stop = reason
    return false
  }
}

/// An observer's decision about the rest of a body.
package enum BodyVerdict: Sendable {
  /// Continue: more bytes are needed.
  case more
  /// Stop: the bytes received so far suffice. The download succeeds with them.
  case enough
  /// Stop: this image will not be decoded. The download fails; the observer keeps the reason.
  case refuse
}

/// Reads the bytes of a body as they arrive, and can end the transfer early.
///
/// Calls are serialised and in order, and must return within microseconds: every other transfer waits for them.
package protocol BodyObserver: AnyObject, Sendable {
  /// The head of a response has arrived, also for an error status. The last call of a download is for its final
  /// response.
  func responseBegins(_ head: ResponseHead)

  /// A new attempt begins, and all earlier bytes are void. `expectedLength` is the announced length in bytes, if any.
  func bodyBegins(expectedLength: Int?)

  /// The next chunk of the body. `bytes` is valid only during the call and starts `offset` bytes into the body.
  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict
}

extension BodyObserver {
  package func responseBegins(_ head: ResponseHead) {}
}
