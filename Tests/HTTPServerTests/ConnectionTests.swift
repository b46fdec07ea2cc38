@testable import HTTPServer
@testable import TestOrigin

/// What becomes of a connection: order, idle ones, slow ones, and those that leave.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ConnectionTests {
  private static let close = "Connection: close\r\n"

  @Test func requestsThatAreSentAheadAreRespondedToInOrder() async throws {
    let gate = Gate()
    let fixture = try await ServerFixture(respond: { request in
      if request.target == "/0" { _ = await eventually { gate.isOpen } }
      return .text("<\(request.target)>")
    })
    let connection = try fixture.connect()
    await connection.send((0..<20).map { get("/\($0)") }.joined())
    #expect(connection.text.isEmpty)
    gate.open()
    let response = await connection.read(until: "</19>")
    let places = (0..<20).map { response.range(of: "</\($0)>")?.lowerBound }
    #expect(!places.contains(nil) && places.compactMap { $0 } == places.compactMap { $0 }.sorted())
    await fixture.stop()
  }

  @Test func whatIsNoRequestBehindOneIsRefusedAfterItsResponse() async throws {
    let fixture = try await ServerFixture()
    let response = try await fixture.exchange(get("/a") + get("/now") + "garbage\r\n\r\n")
    #expect(response.contains("GET /a 0"))
    #expect(response.contains("\r\n\r\nnow"))
    #expect(response.contains(" 400 Bad Request"))
    await fixture.stop()
  }

  @Test func aHeadRequestGetsTheLengthAndNoBody() async throws {
    let fixture = try await ServerFixture()
    let response = try await fixture.exchange(get("/a", method: "HEAD") + get("/b", Self.close))
    #expect(response.contains("content-length: 9\r\n"))
    #expect(!response.contains("HEAD /a"))
    #expect(response.hasSuffix("GET /b 0"))
    await fixture.stop()
  }

  @Test func oldClientsKeepTheConnectionOnlyIfTheyAskForIt() async throws {
    let fixture = try await ServerFixture()
    let kept = try fixture.connect()
    await kept.send(get("/a", "Connection: keep-alive\r\n", version: "1.0"))
    #expect(await kept.read(until: "GET /a 0").contains("connection: keep-alive"))
    await kept.send(get("/b", version: "1.0"))
    #expect(await kept.readToEnd().hasSuffix("GET /b 0"))
    await fixture.stop()
  }

  @Test func halfARequestCostsNothingAndIsForgotten() async throws {
    let fixture = try await ServerFixture()
    do {
      let connection = try fixture.connect()
      await connection.send("GET /a HTTP/1.1\r\nHost: loc")
      let uploading = try fixture.connect()
      await uploading.send(get("/a", "Content-Length: 10\r\n", method: "POST") + "abc")
      await poll { fixture.server.openConnections == 2 }
    }
    await poll { fixture.server.openConnections == 0 }
    await fixture.stop()
    #expect(fixture.responder.exchanges.map { "\($0.target) \($0.status?.code ?? 0)" } == ["/a 0"])
  }

  @Test func aConnectionWithoutARequestIsClosedAfterATime() async throws {
    // Real time: only has to pass.
    let fixture = try await ServerFixture { $0.idleTimeout = .milliseconds(50) }
    let silent = try fixture.connect()
    let slow = try fixture.connect()
    await slow.send("GET /a HTTP/1.1\r\n")
    #expect(await silent.readToEnd().isEmpty)
    #expect(await slow.readToEnd().isEmpty)
    await fixture.stop()
  }

  @Test func aBodyThatDoesNotComeIsRefusedAfterATime() async throws {
    // Real time: only has to pass.
    let fixture = try await ServerFixture { $0.bodyTimeout = .milliseconds(50) }
    let response = try await fixture.exchange(get("/a", "Content-Length: 10\r\n", method: "POST") + "abc")
    #expect(response.hasPrefix("HTTP/1.1 408 "))
    await fixture.stop()
  }

  @Test func aClientThatDoesNotCloseIsNotWaitedForAsLongAsAnIdleOne() async throws {
    // Real time: only has to pass.
    let fixture = try await ServerFixture { $0.lingerTimeout = .milliseconds(50) }
    let connection = try fixture.connect()
    await connection.send(get("/a", Self.close))
    #expect(await connection.readToEnd().hasSuffix("GET /a 0"))
    // The client holds its side open.
    await poll { fixture.server.openConnections == 0 }
    await fixture.stop()
  }

  @Test func aClientThatTakesNothingIsGivenUp() async throws {
    let body = Data(repeating: 7, count: 16 << 20)
    let fixture = try await ServerFixture {
      // Real time: only has to pass.
      $0.writeTimeout = .milliseconds(100)
    } respond: { _ in
      ServerResponse(.ok, body: .bytes(body))
    }
    let connection = try fixture.connect(receiveBuffer: 4096)
    await connection.send(get("/a"))
    await poll { fixture.responder.exchanges.count == 1 && fixture.server.openConnections == 0 }
    await fixture.stop()
  }

  @Test func aFileIsSentInPartsAndClosed() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "a")
    let bytes = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    try bytes.write(to: file)
    let descriptors = Recorder<Int32>()
    let fixture = try await ServerFixture(respond: { _ in
      let descriptor = Glibc.open(file.path, O_RDONLY | O_CLOEXEC)
      descriptors.append(descriptor)
      return ServerResponse(
        .ok, body: .file(NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor), 0..<bytes.count))
    })
    let connection = try fixture.connect()
    await connection.send(get("/a", Self.close))
    let response = await connection.readToEnd()
    #expect(response.contains("content-length: \(bytes.count)"))
    #expect(connection.data.suffix(bytes.count) == bytes)
    // One that leaves, and one that wants no body.
    do {
      let leaving = try fixture.connect(receiveBuffer: 4096)
      await leaving.send(get("/a"))
      await poll { descriptors.values.count == 2 }
    }
    _ = try await fixture.exchange(get("/a", Self.close, method: "HEAD"))
    await poll { fixture.server.openConnections == 0 }
    await fixture.stop()
    let link = file.resolvingSymlinksInPath().path
    let stillOpen = descriptors.values.filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == link
    }
    #expect(stillOpen.isEmpty)
  }

  @Test func fiftyClientsThatTakeNothingOfAFileAreInNobodysWay() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appending(path: "film").path
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { Glibc.close(descriptor) }
    // Without blocks on the disk.
    let length = 1 << 30
    #expect(ftruncate(descriptor, length) == 0 && pwrite(descriptor, "end", 3, length - 3) == 3)
    let fixture = try await ServerFixture(respond: { request in
      let file = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: Glibc.open(path, O_RDONLY | O_CLOEXEC))
      return ServerResponse(.partialContent, body: .file(file, (request.target == "/end" ? length - 3 : 1)..<length))
    })
    let slow = try (0..<50).map { _ in try fixture.connect(receiveBuffer: 4096) }
    for connection in slow { await connection.send(get("/film")) }
    await poll { fixture.responder.begun == 50 }
    #expect(fixture.responder.exchanges.isEmpty)
    for _ in 0..<10 {
      let response = try await fixture.exchange(get("/end", Self.close))
      #expect(response.hasPrefix("HTTP/1.1 206") && response.hasSuffix("\r\n\r\nend"))
    }
    #expect(slow.allSatisfy { !$0.isClosed } && fixture.server.openConnections >= 50)
    await fixture.stop()
  }

  @Test func aFileThatBecomesShorterEndsTheConnection() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appending(path: "film").path
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { Glibc.close(descriptor) }
    let length = 64 << 20
    #expect(ftruncate(descriptor, length) == 0)
    let fixture = try await ServerFixture(respond: { _ in
      let file = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: Glibc.open(path, O_RDONLY | O_CLOEXEC))
      return ServerResponse(.ok, body: .file(file, 0..<length))
    })
    let slow = try fixture.connect(receiveBuffer: 4096)
    await slow.send(get("/film"))
    await poll { fixture.responder.begun == 1 }
    #expect(ftruncate(descriptor, 100) == 0)
    // It reads what was sent before, and then the end.
    let received = await slow.readToEnd()
    #expect(received.utf8.count < length)
    await fixture.stop()
  }

  @Test func aClientThatLeavesStopsTheWork() async throws {
    let cancelled = Counter()
    let begun = Counter()
    let fixture = try await ServerFixture(respond: { _ in
      begun.increment()
      await untilCancelled()
      if Task.isCancelled { cancelled.increment() }
      return .text("")
    })
    do {
      let connection = try fixture.connect()
      // What was sent ahead must not hide that it has left.
      await connection.send(get("/a") + get("/b"))
      await poll { begun.value == 1 }
    }
    await poll { cancelled.value == 1 }
    await fixture.stop()
    #expect(fixture.responder.exchanges.map(\.status) == [nil])
  }

  @Test func twoThousandIdleConnectionsAreInNobodysWay() async throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 16_384))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let count = min(2000, max(50, Int(min(limit.rlim_cur, 16_384)) / 2 - 500))
    let fixture = try await ServerFixture()
    let idle = try (0..<count).map { _ in try fixture.connect() }
    for connection in idle.prefix(200) { await connection.send("GET /a HTTP/1.1\r\nHos") }
    await poll { fixture.server.openConnections == count }
    #expect(try await fixture.exchange(get("/a", Self.close)).hasSuffix("GET /a 0"))
    #expect(idle.allSatisfy { !$0.isClosed })
    await fixture.stop()
    for connection in idle.suffix(20) { _ = await connection.readToEnd() }
    #expect(fixture.server.openConnections == 0)
  }
}
