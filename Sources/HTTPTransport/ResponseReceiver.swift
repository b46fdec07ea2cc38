import Foundation
import HTTPSemantics
import ThumbnailCore

/// Takes one answer as it comes, its head line by line and then its body, and decides when to take no more.
///
/// It knows nothing of libcurl: whoever runs the transfer hands over what arrives, and ends the transfer where a method
/// says false. How an earlier attempt's body is gone on with stands in `ResponseReceiver+Resumption`.
struct ResponseReceiver {
  /// Why no more is taken.
  enum Stop {
    /// The observer needs no more.
    case enough
    /// A status other than success whose body is of no interest.
    case statusIsAll
    case failed(DownloadError)
  }

  /// Of the body of an error or a redirect so much is read and dropped to keep the connection; beyond, it is closed.
  private static let longestBodyWorthSkipping = 16 << 10

  /// Heads and trailers together may not be longer, interim answers included: no server needs as much.
  private static let longestHead = 128 << 10

  let order: TransferRequest
  private(set) var head = ResponseHead()
  private var headLength = 0
  var body: BodyBuffer
  private(set) var hasBodyBegun = false
  /// The body's length as the server told it.
  var expected: Int?
  /// The bytes of the body that came in this transfer.
  private(set) var received = 0
  /// The observer has said *enough*, but to read the little that is left is cheaper than to close the connection.
  private(set) var readsOn = false
  /// Why no more is taken; nil while more is, and at the end of an answer that was taken to its end.
  private(set) var stop: Stop?

  /// The beginning of the body as an earlier attempt has left it, until the answer goes on with it or does not.
  var earlier: PartialBody?
  /// The tag under which the body can be gone on with, where it can.
  var tag: String?
  /// The body's name on the disk, where it has one.
  var stored: OpenPartial?
  /// Whether the body gets a name once it outgrows memory.
  var isToBeNamed = false

  /// Readies for an answer. Takes what an earlier attempt has left of the body.
  init(_ order: TransferRequest) {
    self.order = order
    body = BodyBuffer(
      memoryLimit: order.memoryLimit, spillDirectories: order.spillDirectories, spillMemory: order.spillMemory)
    earlier = order.partial?.take(from: order.url)
    isConditional = earlier == nil && !order.conditions.isEmpty
    conditions = earlier?.requestHeaders ?? order.conditions
  }

  /// The fields to send so that no more comes than is needed: for the rest of a body, or for one that has changed.
  let conditions: [HTTPHeader]
  /// Whether the answer may be that nothing has changed.
  let isConditional: Bool

  var isSuccess: Bool { (200..<300).contains(head.status) }
  private var isWanted: Bool { isSuccess || (order.keepsErrorBodies && head.redirectLocation == nil) }

  /// Whether the status tells more than how the rest of the answer breaks off.
  var isStatusAll: Bool { hasBodyBegun && !isWanted }

  /// Of the last attempt at a large body anything is better than nothing.
  var mayBeSlow: Bool { order.isLastAttempt && isSuccess && (expected ?? body.count) >= Self.largeBody }
  private static let largeBody = 256 << 10

  // MARK: While it comes

  /// Takes the next line of the head, or of what follows the body. False ends the transfer.
  mutating func receivedHeader(_ line: UnsafeRawBufferPointer, mayKeepConnection: () -> Bool) -> Bool {
    headLength += line.count
    guard headLength <= Self.longestHead else {
      return end(.failed(.invalidResponse(reason: "the header is longer than \(Self.longestHead >> 10) KiB")))
    }
    // Fields after the body are of no interest.
    guard !hasBodyBegun, head.take(line) == .complete else { return true }
    return beginBody(announced: head.contentLength, mayKeepConnection: mayKeepConnection)
  }

  /// Takes the next bytes of the body. False ends the transfer.
  ///
  /// `mayKeepConnection` tells whether the connection can serve others if the body is read to its end.
  mutating func receivedBody(_ bytes: UnsafeRawBufferPointer, mayKeepConnection: () -> Bool) -> Bool {
    guard hasBodyBegun else { return end(.failed(.invalidResponse(reason: "a body without a header"))) }
    received += bytes.count
    guard isWanted else {
      return received <= Self.longestBodyWorthSkipping || end(.statusIsAll)
    }
    guard body.count + bytes.count <= order.byteLimit else {
      return end(.failed(.tooLarge(limit: order.byteLimit, announced: expected)))
    }
    let verdict = isSuccess ? order.observer?.bodyReceived(bytes, at: body.count) ?? .more : .more
    if verdict == .refuse, !readsOn { return end(.failed(.refusedByObserver)) }
    do throws(DownloadError) { try body.append(bytes) } catch { return end(.failed(error)) }
    keepNameUpToDate()
    return verdict != .enough || readsOn || endWithEnough(mayKeepConnection)
  }

  /// Ends the head of an answer that has no body at all. False when the answer is a failure.
  mutating func endedWithoutBody() -> Bool {
    hasBodyBegun || beginBody(announced: 0, mayKeepConnection: { true })
  }

  private mutating func beginBody(announced: Int?, mayKeepConnection: () -> Bool) -> Bool {
    hasBodyBegun = true
    order.observer?.responseBegins(status: head.status, headers: head.headers)
    expected = order.compression != .ignored && head.isEncoded ? nil : announced
    let lengthProblem = head.lengthProblem
    if let lengthProblem, isWanted { return end(.failed(.invalidResponse(reason: lengthProblem))) }
    if let earlier, isSuccess || head.status == 416 {
      if head.status == 206 || head.status == 416 { return goOn(from: earlier, mayKeepConnection) }
      // The picture has changed meanwhile, or the server does not do ranges after all.
      remove(earlier.stored)
      self.earlier = nil
    } else if head.status == 206 {
      return end(.failed(.invalidResponse(reason: "a part of the file, which nobody asked for")))
    }
    guard isWanted else {
      // Where a body ends whose length is in doubt is not known either.
      return lengthProblem == nil && (announced ?? 0) <= Self.longestBodyWorthSkipping || end(.statusIsAll)
    }
    if let expected, expected > order.byteLimit {
      return end(.failed(.tooLarge(limit: order.byteLimit, announced: expected)))
    }
    body.prepare(for: expected)
    storeByName()
    if isSuccess { order.observer?.bodyBegins(expectedLength: expected) }
    return true
  }

  /// Ends the transfer since its observer needs no more, unless it is cheaper to read on.
  mutating func endWithEnough(_ mayKeepConnection: () -> Bool) -> Bool {
    readsOn = isRestWorthReading(mayKeepConnection)
    return readsOn || end(.enough)
  }

  /// Whether the rest of a body that nobody needs is read all the same, to keep the connection.
  private func isRestWorthReading(_ mayKeepConnection: () -> Bool) -> Bool {
    // With the last byte in hand the transfer ends by itself.
    if body.count == expected { return true }
    let isLast = head.headers.firstValue(of: "Connection")?.lowercased().contains("close") == true
    return !isLast && expected.map { $0 - body.count <= order.longestRestWorthReading } == true && mayKeepConnection()
  }

  /// Keeps nothing of the body in memory from now on. False when it cannot be written to a file: it stays then.
  mutating func leaveMemory() -> Bool {
    do throws(DownloadError) { try body.leaveMemory() } catch { return false }
    keepNameUpToDate()
    return true
  }

  mutating func end(_ reason: Stop) -> Bool {
    stop = reason
    return false
  }
}
