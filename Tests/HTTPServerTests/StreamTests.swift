@testable import HTTPServer
@testable import TestOrigin

/// Responses whose length is not known, and the end of a server.
@Suite(.timeLimit(.minutes(5))) struct StreamTests {
  private static func streaming(
    _ continuation: Recorder<AsyncStream<ByteBuffer>.Continuation>, ended: Counter = Counter()
  ) -> @Sendable (ServerRequest) async -> ServerResponse {
    { _ in
      let (stream, source) = AsyncStream.makeStream(of: ByteBuffer.self)
      source.onTermination = { _ in ended.increment() }
      continuation.append(source)
      return ServerResponse(.ok, body: .stream(stream))
    }
  }

  @Test func partsAreSentAsTheyComeAndTheConnectionGoesOn() async throws {
    let sources = Recorder<AsyncStream<ByteBuffer>.Continuation>()
    let fixture = try await ServerFixture(respond: Self.streaming(sources))
    let connection = try fixture.connect()
    await connection.send(get("/a") + get("/now"))
    await poll { sources.values.count == 1 }
    sources.values[0].yield(ByteBuffer(string: "one"))
    await connection.read(until: "3\r\none\r\n")
    sources.values[0].yield(ByteBuffer(string: "three"))
    await connection.read(until: "5\r\nthree\r\n")
    sources.values[0].finish()
    let response = await connection.read(until: "\r\n\r\nnow")
    #expect(response.contains("transfer-encoding: chunked"))
    #expect(response.contains("three\r\n0\r\n\r\nHTTP/1.1 200 OK"))
    await fixture.stop()
  }

  @Test func toAnOldClientTheEndIsThatOfTheConnection() async throws {
    let sources = Recorder<AsyncStream<ByteBuffer>.Continuation>()
    let fixture = try await ServerFixture(respond: Self.streaming(sources))
    let connection = try fixture.connect()
    await connection.send(get("/a", "Connection: keep-alive\r\n", version: "1.0"))
    await poll { sources.values.count == 1 }
    sources.values[0].yield(ByteBuffer(string: "one"))
    sources.values[0].finish()
    let response = await connection.readToEnd()
    #expect(response.hasSuffix("\r\n\r\none") && !response.contains("chunked"), "\(response)")
    await fixture.stop()
  }

  @Test func aStreamEndsWhenItsClientLeaves() async throws {
    let sources = Recorder<AsyncStream<ByteBuffer>.Continuation>()
    let ended = Counter()
    let fixture = try await ServerFixture(respond: Self.streaming(sources, ended: ended))
    do {
      let connection = try fixture.connect()
      await connection.send(get("/a"))
      await connection.read(until: "chunked")
    }
    await poll { ended.value == 1 }
    await fixture.stop()
  }

  /// Responds with parts that are written, or fails after them.
  private static func writing(
    _ parts: [String], length: Int, failing: Bool = false
  ) -> @Sendable (ServerRequest) async -> ServerResponse {
    { _ in
      ServerResponse(
        .ok,
        body: .written(length: length) { send in
          for part in parts { try await send(ByteBuffer(string: part)) }
          if failing { throw POSIXError(.EIO) }
        })
    }
  }

  @Test func aWrittenBodyOfKnownLengthIsSentInParts() async throws {
    let fixture = try await ServerFixture(respond: Self.writing(["one", "three"], length: 8))
    let connection = try fixture.connect()
    let old = get("/a", "Connection: keep-alive\r\n", version: "1.0")
    await connection.send(get("/a", method: "HEAD") + old + get("/now"))
    let response = await connection.read(until: "\r\n\r\nnow")
    #expect(response.components(separatedBy: "content-length: 8").count == 3 && !response.contains("chunked"))
    #expect(response.components(separatedBy: "onethree").count == 2)
    await fixture.stop()
  }

  @Test func aBodyThatFailsEndsTheConnection() async throws {
    let fixture = try await ServerFixture(respond: Self.writing(["one"], length: 8, failing: true))
    let response = try await fixture.exchange(get("/a"))
    #expect(response.contains("one") && !response.contains("\r\n0\r\n"))
    await poll { fixture.responder.exchanges.count == 1 }
    #expect(fixture.responder.exchanges[0].status == nil)
    await fixture.stop()
  }

  @Test func clientsThatReadNothingHoldAPartEachAndHinderNobody() async throws {
    let (begun, parts, ended) = (Counter(), Counter(), Counter())
    let length = 120 << 10
    let fixture = try await ServerFixture(respond: { _ in
      ServerResponse(
        .ok,
        body: .written(length: .max) { send in
          begun.increment()
          defer { ended.increment() }
          while true {
            parts.increment()
            try await send(ByteBuffer(repeating: 1, count: length))
          }
        })
    })
    var silent: [RawConnection] = []
    for _ in 0..<50 {
      silent.append(try fixture.connect(receiveBuffer: 4096))
      await silent[silent.count - 1].send(get("/a"))
    }
    await poll { begun.value == 50 }
    for _ in 0..<20 { #expect(try await fixture.exchange(get("/now", "Connection: close\r\n")).hasSuffix("now")) }
    // What the kernel takes of them is bounded, too.
    #expect(parts.value < 50 * 40)
    silent = []
    await poll { ended.value == 50 }
    await fixture.stop()
  }

  @Test func aServerThatStopsFinishesItsResponsesAndAcceptsNobody() async throws {
    let gate = Gate()
    let begun = Counter()
    let fixture = try await ServerFixture(respond: { request in
      begun.increment()
      _ = await eventually { gate.isOpen }
      return .text("done")
    })
    let working = try fixture.connect()
    await working.send(get("/a"))
    let idle = try fixture.connect()
    await idle.send(get("/now"))
    await idle.read(until: "\r\n\r\nnow")
    await poll { begun.value == 1 }
    async let stopping: Void = fixture.stop()
    #expect(await idle.readToEnd().hasSuffix("now"))
    await poll { (try? fixture.connect()) == nil }
    gate.open()
    #expect(await working.readToEnd().hasSuffix("done"))
    await stopping
    #expect(fixture.server.openConnections == 0)
  }

  @Test func aServerThatStopsAtOnceWaitsForNobody() async throws {
    let fixture = try await ServerFixture(respond: { _ in
      await untilCancelled()
      return .text("")
    })
    let connection = try fixture.connect()
    await connection.send(get("/a"))
    await poll { fixture.server.openConnections == 1 }
    await fixture.server.stop(within: .zero)
    #expect(await connection.readToEnd().isEmpty)
  }

  @Test func aServerThatStopsAwaitsTheResponsesThatItCancelled() async throws {
    let begun = Counter()
    let ended = Counter()
    let fixture = try await ServerFixture(respond: { _ in
      begun.increment()
      await untilCancelled()
      // Some work goes on although it was cancelled, such as that of a decoder.
      for _ in 0..<100 { await Task.yield() }
      ended.increment()
      return .text("")
    })
    let connection = try fixture.connect()
    await connection.send(get("/a"))
    await poll { begun.value == 1 }
    await fixture.server.stop(within: .zero)
    #expect(ended.value == 1)
  }

  @Test func aPortInUseIsAnError() async throws {
    let fixture = try await ServerFixture()
    let other = HTTPServer(
      HTTPServer.Configuration(binding: .address(host: "127.0.0.1", port: fixture.port)), responder: fixture.responder)
    await #expect(throws: IOError.self) { try await other.start() }
    await fixture.stop()
  }
}
