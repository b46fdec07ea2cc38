import NIOCore

@testable import HTTPServer
@testable import TestOrigin
import TestSupport

/// Responses whose length is not known, and the end of a server.
@Suite(.timeLimit(.minutes(2))) struct StreamTests {
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
      try? await Task.sleep(for: .seconds(600))
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
      try? await Task.sleep(for: .seconds(600))
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
