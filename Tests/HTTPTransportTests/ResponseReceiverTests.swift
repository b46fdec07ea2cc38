import Foundation
import Testing

@testable import HTTPSemantics
@testable import HTTPTransport
@testable import ThumbnailCore
@testable import TestSupport
@testable import TransportTestSupport

/// What is taken of an answer, without a socket: odd servers, word by word.
@Suite
struct ResponseReceiverTests {
  @Test func takesABodyToItsEnd() throws {
    let reception = Answer(.example())
    #expect(reception.take(["HTTP/1.1 103 Early Hints", "Content-Length: 9"]))
    #expect(!reception.hasBodyBegun)
    #expect(reception.take(["HTTP/1.1 200 OK", "Content-Length: 5"]))
    #expect(reception.hasBodyBegun && reception.expected == 5)
    #expect(reception.take([1, 2]) && reception.take([3, 4, 5]))
    #expect(reception.take(["X-Trailer: 1"]))
    #expect(try reception.bytes == [1, 2, 3, 4, 5])
    #expect(reception.received == 5 && reception.stop == nil)
  }

  @Test func anAnswerWithoutABodyBeginsAtItsEnd() {
    let observer = RecordingObserver()
    let reception = Answer(.example(observer: observer))
    #expect(reception.endedWithoutBody())
    #expect(!reception.isSuccess && observer.begins.isEmpty)
  }

  @Test(arguments: [
    ["Content-Length: 5", "Content-Length: 6"], ["Content-Length: 5, 6"], ["Content-Length: five"],
    ["Content-Length: -5"], ["Content-Length: +5"], ["Content-Length: 5,"], ["Content-Length:"],
    ["Content-Length: 5", " 6"],
  ])
  func aLengthInDoubtIsABrokenResponse(fields: [String]) {
    let reception = Answer(.example())
    #expect(!reception.take(["HTTP/1.1 200 OK"] + fields))
    guard case .invalidResponse(let reason) = reception.failure else {
      Issue.record("\(reception.failure as Any)")
      return
    }
    #expect(reason.contains("Content-Length"))
    // An error's page does not matter, but where it ends is not known.
    let missing = Answer(.example())
    #expect(!missing.take(["HTTP/1.1 404 Not Found"] + fields))
    #expect(missing.isStatusAll && missing.failure == nil)
  }

  @Test(arguments: [
    ["Content-Length: 5", "content-length: 5"], ["Content-Length: 5, 5"], ["Content-Length:", "  5"],
    ["Content-Length: 05"],
  ])
  func aLengthThatIsSaidTwiceCountsOnce(fields: [String]) {
    let reception = Answer(.example())
    #expect(reception.take(["HTTP/1.1 200 OK"] + fields))
    #expect(reception.expected == 5)
  }

  @Test func aLengthBesideChunksDoesNotCount() {
    let reception = Answer(.example())
    #expect(
      reception.take(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Length: 5", "Content-Length: 6"]))
    #expect(reception.expected == nil)
  }

  @Test func aLengthBeyondAllNumbersIsTooLarge() {
    let reception = Answer(.example(limit: 10))
    #expect(!reception.take(["HTTP/1.1 200 OK", "Content-Length: 99999999999999999999999"]))
    #expect(reception.failure == .tooLarge(limit: 10, announced: .max))
  }

  @Test func interimAnswersWithoutEndAreCutOff() {
    let reception = Answer(.example())
    var taken = 0
    while taken < 10_000, reception.take(["HTTP/1.1 103 Early Hints", "Link: </a.css>"]) { taken += 1 }
    #expect(taken < 10_000)
    #expect(reception.failure == .invalidResponse(reason: "the header is longer than 128 KiB"))
  }

  @Test func aBodyBeforeItsHeadIsRefused() {
    let reception = Answer(.example())
    #expect(!reception.take([1]))
    #expect(reception.failure == .invalidResponse(reason: "a body without a header"))
  }

  @Test func theLimitHoldsForWhatIsAnnouncedAndForWhatComes() {
    let announced = Answer(.example(limit: 10))
    #expect(!announced.take(["HTTP/1.1 200 OK", "Content-Length: 11"]))
    #expect(announced.failure == .tooLarge(limit: 10, announced: 11))
    // The length of something compressed says nothing of what comes out of it.
    let packed = Answer(.example(limit: 10))
    #expect(packed.take(["HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Length: 11"]))
    #expect(packed.take(noise(10)) && !packed.take([1]))
    #expect(packed.failure == .tooLarge(limit: 10, announced: nil))
  }

  @Test(arguments: [404, 500, 302]) func thePageOfAnErrorIsReadAsFarAsItIsShort(status: Int) throws {
    let head = ["HTTP/1.1 \(status) x", "Location: /b"]
    let short = Answer(.example())
    #expect(short.take(head) && short.take(noise(16_000)))
    #expect(try short.isStatusAll && short.bytes.isEmpty)
    #expect(!short.take(noise(1000)))
    guard case .statusIsAll = short.stop else {
      Issue.record("not stopped by its status")
      return
    }
    let long = Answer(.example())
    #expect(!long.take(head + ["Content-Length: 20000"]))
  }

  @Test func enoughEndsTheTransferUnlessAShortRestKeepsTheConnection() {
    let head = ["HTTP/1.1 200 OK", "Content-Length: 1000"]
    for (fields, keeps, readsOn) in [
      (head, true, true), (head, false, false), (head + ["Connection: Close"], true, false),
      (["HTTP/1.1 200 OK"], true, false),
    ] {
      let reception = Answer(.example(observer: RecordingObserver { _ in .enough }))
      #expect(reception.take(fields))
      #expect(reception.take(noise(100), mayKeepConnection: keeps) == readsOn, "\(fields)")
      #expect(reception.readsOn == readsOn)
      if readsOn { #expect(reception.take(noise(900))) }
    }
  }

  @Test func refusingEndsItAndIsNotHeardOnceItReadsOn() {
    let refused = Answer(.example(observer: RecordingObserver { _ in .refuse }))
    #expect(refused.take(["HTTP/1.1 200 OK"]) && !refused.take([1]))
    #expect(refused.failure == .refusedByObserver)
    let late = Answer(.example(observer: RecordingObserver { $0 > 1 ? .refuse : .enough }))
    #expect(late.take(["HTTP/1.1 200 OK", "Content-Length: 2"]))
    #expect(late.take([1]) && late.take([2]))
  }

  @Test func conditionsAreSentUnlessThereIsABodyToGoOnWith() {
    let condition = HTTPHeader("If-None-Match", "\"a\"")
    let reception = ResponseReceiver(.example(conditions: [condition]))
    #expect(reception.isConditional && reception.conditions == [condition])
    #expect(!ResponseReceiver(.example()).isConditional)
  }
}

/// A reception that is fed by a test.
private final class Answer {
  private var reception: ResponseReceiver

  init(_ order: TransferRequest) { reception = ResponseReceiver(order) }

  var hasBodyBegun: Bool { reception.hasBodyBegun }
  var expected: Int? { reception.expected }
  var received: Int { reception.received }
  var readsOn: Bool { reception.readsOn }
  var isSuccess: Bool { reception.isSuccess }
  var isStatusAll: Bool { reception.isStatusAll }
  var stop: ResponseReceiver.Stop? { reception.stop }
  var failure: DownloadError? { if case .failed(let error) = reception.stop { error } else { nil } }
  var bytes: [UInt8] {
    get throws {
      let body = reception.body.finish()
      return try body.read(at: 0, length: body.count)
    }
  }

  /// Hands over the lines of a head. Returns whether all were taken.
  func take(_ lines: [String]) -> Bool {
    (lines + [""]).allSatisfy { line in
      Array("\(line)\r\n".utf8).withUnsafeBytes { reception.receivedHeader($0, mayKeepConnection: { true }) }
    }
  }

  /// Hands over bytes of the body. Returns whether they were taken.
  func take(_ bytes: [UInt8], mayKeepConnection: Bool = true) -> Bool {
    bytes.withUnsafeBytes { reception.receivedBody($0, mayKeepConnection: { mayKeepConnection }) }
  }

  func endedWithoutBody() -> Bool { reception.endedWithoutBody() }
}
