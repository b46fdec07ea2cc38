@testable import HTTPServer
@testable import TestOrigin

/// What one client can take of connections and memory, over sockets from addresses of their own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FairnessTests {
  private static let close = "Connection: close\r\n"

  @Test func whoHasAQuarterOfTheConnectionsIsRefusedAndOthersAreServed() async throws {
    let fixture = try await ServerFixture { $0.maximumConnections = 8 }
    let held = try (0..<2).map { _ in try fixture.connect() }
    await poll { fixture.server.openConnections == 2 }
    let refused = await (try fixture.connect()).readToEnd()
    #expect(refused.hasPrefix("HTTP/1.1 429 ") && refused.contains("retry-after: 1"))
    #expect(try await fixture.exchange(get("/a", Self.close), from: "127.0.0.2").hasSuffix("GET /a 0"))
    #expect(held.allSatisfy { !$0.isClosed })
    await fixture.stop()
  }

  @Test func whereAllConnectionsAreUsedTheLongestIdleOneMakesRoom() async throws {
    let gate = Gate()
    let fixture = try await ServerFixture {
      $0.maximumConnections = 4
    } respond: { request in
      if request.target == "/slow" { _ = await eventually { gate.isOpen } }
      return .text("<\(request.target)>")
    }
    let busy = try fixture.connect(from: "127.0.0.2")
    await busy.send(get("/slow"))
    // A head that never ends is no request.
    let slow = try fixture.connect(from: "127.0.0.3")
    await slow.send("GET /a HTTP/1.1\r\nHos")
    await poll { fixture.server.openConnections == 2 }
    let kept = try fixture.connect(from: "127.0.0.4")
    await kept.send(get("/a"))
    await kept.read(until: "</a>")
    let last = try fixture.connect(from: "127.0.0.5")
    await last.send(get("/a"))
    await last.read(until: "</a>")
    #expect(try await fixture.exchange(get("/b", Self.close), from: "127.0.0.6").hasSuffix("</b>"))
    #expect(await slow.readToEnd().isEmpty)
    #expect(!busy.isClosed && !kept.isClosed && !last.isClosed)
    gate.open()
    await busy.read(until: "</slow>")
    await fixture.stop()
  }

  @Test func whereNoConnectionIsIdleANewOneIsToldToComeAgain() async throws {
    let gate = Gate()
    let fixture = try await ServerFixture {
      $0.maximumConnections = 2
    } respond: { _ in
      _ = await eventually { gate.isOpen }
      return .text("done")
    }
    let busy = try (2...3).map { try fixture.connect(from: "127.0.0.\($0)") }
    for connection in busy { await connection.send(get("/a")) }
    await poll { fixture.responder.begun == 2 }
    #expect(await (try fixture.connect(from: "127.0.0.4")).readToEnd().hasPrefix("HTTP/1.1 503 "))
    gate.open()
    for connection in busy { await connection.read(until: "done") }
    await fixture.stop()
  }

  @Test func aTrustedProxyMayHaveAllConnections() async throws {
    let fixture = try await ServerFixture {
      $0.maximumConnections = 4
      $0.isProxy = { $0 == "127.0.0.9" }
    }
    let connections = try (0..<4).map { _ in try fixture.connect(from: "127.0.0.9") }
    await poll { fixture.server.openConnections == 4 }
    for connection in connections {
      await connection.send(get("/a"))
      await connection.read(until: "GET /a 0")
    }
    await fixture.stop()
  }

  @Test func aBodyIsInMemoryOnceHoweverManyReadIt() async throws {
    let body = Data(repeating: 7, count: 6 << 20)
    let fixture = try await ServerFixture(respond: { _ in ServerResponse(.ok, body: .bytes(body)) })
    do {
      let readers = try (2..<42).map { try fixture.connect(from: "127.0.0.\($0)", receiveBuffer: 4096) }
      for reader in readers { await reader.send(get("/a")) }
      let parts = readers.count * OutgoingBody.partLength
      await poll { fixture.server.memory.used == body.count + parts }
      #expect(try await fixture.exchange(get("/a", Self.close)).utf8.count > body.count)
      await poll { fixture.server.memory.used == body.count + parts }
    }
    await poll { fixture.server.memory.used == 0 }
    await fixture.stop()
  }

  @Test func whoseMemoryIsUsedUpIsRefusedAndOthersAreServed() async throws {
    let fixture = try await ServerFixture {
      $0.bodyMemory = 8 << 20
    } respond: { _ in
      // A body of its own for each.
      ServerResponse(.ok, body: .bytes(Data(repeating: 7, count: 1 << 20)))
    }
    let first = try fixture.connect(receiveBuffer: 4096)
    await first.send(get("/a", Self.close))
    await poll { fixture.server.memory.used > 1 << 20 }
    let refused = try await fixture.exchange(get("/a", Self.close))
    #expect(refused.hasPrefix("HTTP/1.1 429 "))
    var others: [RawConnection] = []
    for number in 2..<8 {
      let other = try fixture.connect(from: "127.0.0.\(number)", receiveBuffer: 4096)
      await other.send(get("/a", Self.close))
      others.append(other)
      await poll { fixture.server.memory.used > others.count * (1 << 20) + (1 << 20) }
    }
    // All of it is in use: nobody's fault in particular.
    let late = try await fixture.exchange(get("/a", Self.close), from: "127.0.0.9")
    #expect(late.hasPrefix("HTTP/1.1 503 "))
    #expect(await first.readToEnd().utf8.count > 1 << 20)
    await poll { fixture.server.memory.used < 7 << 20 }
    #expect(try await fixture.exchange(get("/a", Self.close)).hasPrefix("HTTP/1.1 200 "))
    await fixture.stop()
  }

  @Test func whoWaitsForItsOwnPartOfTheMemoryHoldsUpNobody() async throws {
    let gate = Gate()
    let fixture = try await ServerFixture {
      $0.bodyMemory = 400_000
    } respond: { request in
      if request.target == "/held" { _ = await eventually { gate.isOpen } }
      return .text("<\(request.body.readableBytes)>")
    }
    func upload(_ target: String, from client: String) async throws -> RawConnection {
      let connection = try fixture.connect(from: client)
      let body = String(repeating: "a", count: 90_000)
      await connection.send(get(target, Self.close + "Content-Length: 90000\r\n", method: "POST") + body)
      return connection
    }
    let held = try await upload("/held", from: "127.0.0.2")
    await poll { fixture.responder.begun == 1 }
    let waiting = try await upload("/a", from: "127.0.0.2")
    await poll { fixture.server.openConnections == 2 }
    #expect(await (try await upload("/a", from: "127.0.0.3")).readToEnd().hasSuffix("<90000>"))
    #expect(waiting.text.isEmpty)
    gate.open()
    #expect(await held.readToEnd().hasSuffix("<90000>"))
    #expect(await waiting.readToEnd().hasSuffix("<90000>"))
    await fixture.stop()
  }

  /// As one whose length is known, which may be larger than the part of a client, too.
  @Test func aBodyInChunksGrowsBeyondThePartOfItsClientIfThatIsAllItHas() async throws {
    let fixture = try await ServerFixture { $0.bodyMemory = 1_600_000 }
    let fields = Self.close + "Transfer-Encoding: chunked\r\n"
    let chunk = "8000\r\n" + String(repeating: "a", count: 0x8000) + "\r\n"
    let chunks = String(repeating: chunk, count: 20) + "0\r\n\r\n"
    let response = try await fixture.exchange(get("/a", fields, method: "POST") + chunks)
    #expect(response.hasSuffix("POST /a \(20 * 0x8000)"), "\(response.prefix(200))")
    await poll { fixture.server.memory.used == 0 }
    await fixture.stop()
  }

  @Test func aClientOfAnIPv6SocketIsItsIPv4Address() async throws {
    let fixture = try await ServerFixture({ $0.binding = .address(host: "::", port: 0) }) { .text($0.client) }
    #expect(try await fixture.exchange(get("/a", Self.close), from: "127.0.0.2").hasSuffix("127.0.0.2"))
    await fixture.stop()
  }

  @Test func whoTakesLessThanTheLeastInAWindowIsEnded() async throws {
    let body = Data(repeating: 7, count: 16 << 20)
    let fixture = try await ServerFixture {
      // Real time: only has to pass.
      $0.writeTimeout = .milliseconds(100)
      $0.leastWritten = 1 << 20
    } respond: { _ in
      ServerResponse(.ok, body: .bytes(body))
    }
    let drip = try fixture.connect(receiveBuffer: 4096)
    await drip.send(get("/a"))
    await poll { fixture.responder.begun == 1 }
    // It takes something each time, but too little.
    await poll {
      drip.receive(atMost: 100)
      return fixture.server.openConnections == 0
    }
    await fixture.stop()
    #expect(fixture.server.memory.used == 0)
  }

  @Test func whoTakesTheLeastInEachWindowGetsAllHoweverLongThatIs() async throws {
    let body = Data(repeating: 7, count: 3 << 20)
    let fixture = try await ServerFixture {
      $0.writeTimeout = .minutes(1)
      $0.leastWritten = 16 << 10
    } respond: { _ in
      ServerResponse(.ok, body: .bytes(body))
    }
    let reader = try fixture.connect(receiveBuffer: 4096)
    await reader.send(get("/a", Self.close))
    while reader.data.count < body.count {
      let length = reader.data.count
      reader.receive(atMost: 64 << 10)
      if reader.data.count == length {
        if reader.isClosed { break }
        await Task.yield()
      }
    }
    #expect(reader.data.count > body.count)
    await fixture.stop()
  }
}
