@testable import HTTPServer
@testable import TestOrigin

/// Bodies of requests: who may send one, and what they take together.
@Suite(.timeLimit(.minutes(5))) struct BodyTests {
  private static let close = "Connection: close\r\n"

  private static func post(_ fields: String) -> String { get("/a", fields, method: "POST") }

  @Test func aClientThatAsksFirstIsInvited() async throws {
    let fixture = try await ServerFixture()
    let connection = try fixture.connect()
    await connection.send(Self.post("Expect: 100-continue\r\nContent-Length: 3\r\n"))
    await connection.read(until: "HTTP/1.1 100 Continue\r\n\r\n")
    await connection.send("abc")
    await connection.read(until: "POST /a 3")
    await connection.send(Self.post("Expect: 100-continue\r\nContent-Length: 1000001\r\n"))
    let response = await connection.readToEnd()
    #expect(response.components(separatedBy: "100 Continue").count == 2)
    #expect(response.contains(" 413 "))
    await fixture.stop()
  }

  @Test func anOldClientIsNotInvited() async throws {
    let fixture = try await ServerFixture()
    let response = try await fixture.exchange(
      get("/a", "Expect: 100-continue\r\nContent-Length: 3\r\n", version: "1.0", method: "POST") + "abc")
    #expect(response.hasPrefix("HTTP/1.0 200 OK"))
    await fixture.stop()
  }

  @Test func chunksBeyondTheLimitAreRefusedWithoutTakingThemAll() async throws {
    let fixture = try await ServerFixture()
    let connection = try fixture.connect()
    await connection.send(Self.post("Transfer-Encoding: chunked\r\n"))
    let chunk = "8000\r\n" + String(repeating: "a", count: 0x8000) + "\r\n"
    for _ in 0..<40 where !connection.isClosed { await connection.send(chunk) }
    let response = await connection.readToEnd()
    #expect(response.hasPrefix("HTTP/1.1 413 "))
    #expect(response.contains("connection: close"))
    await fixture.stop()
  }

  @Test func aBodyWaitsUntilThereIsRoomForIt() async throws {
    let gate = Gate()
    let begun = Counter()
    let fixture = try await ServerFixture {
      $0.bodyMemory = 100_000
    } respond: { request in
      begun.increment()
      _ = await eventually { gate.isOpen }
      return .text("\(request.body.readableBytes)")
    }
    let body = String(repeating: "a", count: 60_000)
    let first = try fixture.connect()
    await first.send(Self.post(Self.close + "Content-Length: 60000\r\n") + body)
    await poll { begun.value == 1 }
    let second = try fixture.connect(from: "127.0.0.2")
    await second.send(Self.post(Self.close + "Expect: 100-continue\r\nContent-Length: 60000\r\n"))
    await poll { fixture.server.memory.waiting == 1 }
    // Whoever does not say how much it will be, and finds no room, may try again.
    let third = try fixture.connect(from: "127.0.0.3")
    await third.send(Self.post("Transfer-Encoding: chunked\r\n") + "ea60\r\n\(body)\r\n0\r\n\r\n")
    #expect(await third.readToEnd().hasPrefix("HTTP/1.1 503 "))
    #expect(second.text.isEmpty && begun.value == 1)
    gate.open()
    #expect(await first.readToEnd().hasSuffix("\r\n\r\n60000"))
    await second.read(until: "100 Continue")
    await second.send(body)
    #expect(await second.readToEnd().hasSuffix("\r\n\r\n60000"))
    await fixture.stop()
  }

  @Test func aClientThatLeavesTheQueueIsNotWaitedFor() async throws {
    let gate = Gate()
    let fixture = try await ServerFixture {
      $0.bodyMemory = 100_000
    } respond: { request in
      if request.target == "/a" { _ = await eventually { gate.isOpen } }
      return .text("\(request.body.readableBytes)")
    }
    let body = String(repeating: "a", count: 60_000)
    let first = try fixture.connect()
    await first.send(Self.post(Self.close + "Content-Length: 60000\r\n") + body)
    do {
      let second = try fixture.connect()
      await second.send(Self.post("Content-Length: 60000\r\n") + body)
      await poll { fixture.server.openConnections == 2 }
    }
    await poll { fixture.server.openConnections == 1 }
    gate.open()
    _ = await first.readToEnd()
    let third = get("/b", Self.close + "Content-Length: 60000\r\n", method: "POST") + body
    #expect(try await fixture.exchange(third).hasSuffix("\r\n\r\n60000"))
    await fixture.stop()
  }
}
