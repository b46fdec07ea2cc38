@testable import HTTPTransport
@testable import ThumbnailCore

/// What is taken of an answer, without a socket: odd servers, word by word.
@Suite struct ResponseReceiverTests {
  @Test func takesABodyToItsEnd() throws {
    let reception = try Answer(.example())
    #expect(reception.take(["HTTP/1.1 103 Early Hints", "Content-Length: 9"]))
    #expect(!reception.hasBodyBegun)
    #expect(reception.take(["HTTP/1.1 200 OK", "Content-Length: 5"]))
    #expect(reception.hasBodyBegun && reception.expected == 5)
    #expect(reception.take([1, 2]) && reception.take([3, 4, 5]))
    #expect(reception.take(["X-Trailer: 1"]))
    #expect(try reception.bytes == [1, 2, 3, 4, 5])
    #expect(reception.received == 5 && reception.stop == nil)
  }

  @Test func anAnswerWithoutABodyBeginsAtItsEnd() throws {
    let observer = RecordingObserver()
    let reception = try Answer(.example(observer: observer))
    #expect(throws: Never.self) { try reception.end().get() }
    #expect(!reception.isSuccess && observer.begins.isEmpty)
  }

  @Test(arguments: [
    ["Content-Length: 5", "Content-Length: 6"], ["Content-Length: 5, 6"], ["Content-Length: five"],
    ["Content-Length: -5"], ["Content-Length: +5"], ["Content-Length: 5,"], ["Content-Length:"],
    ["Content-Length: 5", " 6"],
  ])
  func aLengthInDoubtIsABrokenResponse(fields: [String]) throws {
    let reception = try Answer(.example())
    #expect(!reception.take(["HTTP/1.1 200 OK"] + fields))
    guard case .invalidResponse(let reason) = reception.failure else {
      Issue.record("\(reception.failure as Any)")
      return
    }
    #expect(reason.contains("Content-Length"))
    // An error's page does not matter, but where it ends is not known.
    let missing = try Answer(.example())
    #expect(!missing.take(["HTTP/1.1 404 Not Found"] + fields))
    #expect(missing.statusSuffices && missing.failure == nil)
  }

  @Test(arguments: [
    ["Content-Length: 5", "content-length: 5"], ["Content-Length: 5, 5"], ["Content-Length:", "  5"],
    ["Content-Length: 05"],
  ])
  func aLengthThatIsSaidTwiceCountsOnce(fields: [String]) throws {
    let reception = try Answer(.example())
    #expect(reception.take(["HTTP/1.1 200 OK"] + fields))
    #expect(reception.expected == 5)
  }

  @Test func aLengthBesideChunksDoesNotCount() throws {
    let reception = try Answer(.example())
    #expect(
      reception.take(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Length: 5", "Content-Length: 6"]))
    #expect(reception.expected == nil)
  }

  @Test func aLengthBeyondAllNumbersIsTooLarge() throws {
    let reception = try Answer(.example(limit: 10))
    #expect(!reception.take(["HTTP/1.1 200 OK", "Content-Length: 99999999999999999999999"]))
    #expect(reception.failure == .tooLarge(limit: 10, announced: .max))
  }

  @Test func interimAnswersWithoutEndAreCutOff() throws {
    let reception = try Answer(.example())
    var taken = 0
    while taken < 10_000, reception.take(["HTTP/1.1 103 Early Hints", "Link: </a.css>"]) { taken += 1 }
    #expect(taken < 10_000)
    #expect(reception.failure == .invalidResponse(reason: "the header is longer than 128 KiB"))
  }

  @Test func aBodyBeforeItsHeadIsRefused() throws {
    let reception = try Answer(.example())
    #expect(!reception.take([1]))
    #expect(reception.failure == .invalidResponse(reason: "a body without a header"))
  }

  @Test func theLimitHoldsForWhatIsAnnouncedAndForWhatComes() throws {
    let announced = try Answer(.example(limit: 10))
    #expect(!announced.take(["HTTP/1.1 200 OK", "Content-Length: 11"]))
    #expect(announced.failure == .tooLarge(limit: 10, announced: 11))
    // The length of something compressed says nothing of what comes out of it.
    let packed = try Answer(.example(limit: 10))
    #expect(packed.take(["HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Length: 11"]))
    #expect(packed.take(noise(10)) && !packed.take([1]))
    #expect(packed.failure == .tooLarge(limit: 10, announced: nil))
  }

  @Test(arguments: [404, 500, 302]) func thePageOfAnErrorIsReadAsFarAsItIsShort(status: Int) throws {
    let head = ["HTTP/1.1 \(status) x", "Location: /b"]
    let short = try Answer(.example())
    #expect(short.take(head) && short.take(noise(16_000)))
    #expect(try short.statusSuffices && short.bytes.isEmpty)
    #expect(!short.take(noise(1000)))
    guard case .statusSuffices = short.stop else {
      Issue.record("not stopped by its status")
      return
    }
    let long = try Answer(.example())
    #expect(!long.take(head + ["Content-Length: 20000"]))
  }

  @Test func enoughEndsTheTransferUnlessAShortRestKeepsTheConnection() throws {
    let head = ["HTTP/1.1 200 OK", "Content-Length: 1000"]
    for (fields, keeps, readsOn) in [
      (head, true, true), (head, false, false), (head + ["Connection: Close"], true, false),
      (["HTTP/1.1 200 OK"], true, false), (["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"], true, false),
    ] {
      let reception = try Answer(.example(observer: RecordingObserver { _ in .enough }))
      #expect(reception.take(fields))
      #expect(reception.take(noise(100), mayKeepConnection: keeps) == readsOn, "\(fields)")
      #expect(reception.isDraining == readsOn)
      if readsOn { #expect(reception.take(noise(900))) }
    }
  }

  @Test func refusingEndsItAndIsNotHeardOnceItReadsOn() throws {
    let refused = try Answer(.example(observer: RecordingObserver { _ in .refuse }))
    #expect(refused.take(["HTTP/1.1 200 OK"]) && !refused.take([1]))
    #expect(refused.failure == .refusedByObserver)
    let late = try Answer(.example(observer: RecordingObserver { $0 > 1 ? .refuse : .enough }))
    #expect(late.take(["HTTP/1.1 200 OK", "Content-Length: 2"]))
    #expect(late.take([1]) && late.take([2]))
  }

  @Test func conditionsAreSentUnlessThereIsABodyToGoOnWith() throws {
    let condition = HTTPHeader("If-None-Match", "\"a\"")
    let reception = try ResponseReceiver(.example(conditions: [condition]))
    #expect(reception.isConditional && reception.conditions == [condition])
    #expect(try !ResponseReceiver(.example()).isConditional)
  }
}

/// A reception that is fed by a test.
private final class Answer {
  private var reception: ResponseReceiver

  init(_ transfer: Transfer) {
    reception = ResponseReceiver(transfer)
    reception.mayKeepConnection = { true }
  }

  var hasBodyBegun: Bool { reception.hasBodyBegun }
  var expected: Int? { reception.expected }
  var received: Int { reception.received }
  var isDraining: Bool { reception.isDraining }
  var isSuccess: Bool { reception.isSuccess }
  var statusSuffices: Bool { reception.statusSuffices }
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
      Array("\(line)\r\n".utf8).withUnsafeBytes { reception.receivedHeader($0) }
    }
  }

  /// Hands over bytes of the body. Returns whether they were taken.
  func take(_ bytes: [UInt8], mayKeepConnection: Bool = true) -> Bool {
    reception.mayKeepConnection = { mayKeepConnection }
    return bytes.withUnsafeBytes { reception.receivedBody($0) }
  }

  func end() -> Result<Download, DownloadError> { reception.result(nil, httpVersion: "") }
}
