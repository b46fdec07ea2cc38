@testable import HTTPServer
@testable import TestOrigin
@testable import ThumbnailCore
@testable import ThumbnailServer
@testable import Thumbnailer

/// What one client or one origin cannot take from the others, and what strangers may not ask for.
@Suite(.timeLimit(.minutes(5))) struct OverloadTests {
  private static let picture = TestImages.url("formats/jpeg-420.jpg")

  /// A server whose origin holds back all below `/slow`.
  private static func fixture(
    until gate: Gate, _ configure: (inout ThumbnailServer.Configuration) -> Void = { _ in },
    pipeline: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) throws -> ServiceFixture {
    let picture = try Data(contentsOf: Self.picture)
    return try ServiceFixture(
      configure, pipeline: pipeline,
      answer: { request in
        let response = OriginResponse.ok(picture, type: "image/jpeg")
        return request.path.hasPrefix("/slow") ? response.held(by: gate) : response
      })
  }

  private static func get(_ fixture: ServiceFixture, _ target: String, from client: String) async -> ServerResponse {
    await fixture.respond(ServerRequest(.GET, target, headers: ["host": "localhost"], client: client))
  }

  @Test func whatIsStoredIsServedWhileTheQueueIsFull() async throws {
    let gate = Gate()
    let folder = try #require(ServedFolder(path: TestImages.url("formats").path))
    let fixture = try Self.fixture(until: gate) {
      $0.mostWaiting = 1
      $0.folder = folder
    } pipeline: {
      // Everything stored is on the disk.
      $0.memoryCacheLimit = ByteSize(bytes: 0)
    }
    let stored = [try fixture.address("40,jpeg"), "/thumb/40,jpeg/jpeg-420.jpg"]
    for target in stored { #expect(await fixture.get(target).status == .ok) }
    let slow = try fixture.address("40", "/slow")
    async let waiting = fixture.get(slow)
    await poll { fixture.origin.requests.count == 2 }
    for target in stored {
      #expect(await fixture.get(target).status == .ok, "\(target)")
    }
    #expect(await fixture.get("/thumb/41,jpeg/jpeg-420.jpg").status == .tooManyRequests)
    #expect(fixture.library.statistics.failures == 0)
    gate.open()
    #expect(await waiting.status == .ok)
  }

  @Test func oneClientFillsItsPartOfTheQueueAndOthersAreServed() async throws {
    let gate = Gate()
    let fixture = try Self.fixture(until: gate) { $0.mostWaiting = 8 }
    let slow = try (0..<3).map { try fixture.address("40", "/slow/\($0)") }
    let fresh = try fixture.address("40")
    await withTaskGroup(of: HTTPResponseStatus.self) { group in
      for target in slow.prefix(2) { group.addTask { await Self.get(fixture, target, from: "192.0.2.1").status } }
      await poll { fixture.origin.requests.count == 2 }
      let refused = await Self.get(fixture, slow[2], from: "192.0.2.1")
      #expect(refused.status == .tooManyRequests && refused["retry-after"] == "1")
      // Of IPv6 the network counts.
      for last in 1...2 { group.addTask { await Self.get(fixture, slow[2], from: "2001:db8::\(last)").status } }
      await poll { fixture.origin.requests.count == 3 }
      _ = await eventually { await Self.get(fixture, fresh, from: "2001:db8::3").status == .tooManyRequests }
      // Half of the queue is the origin's: others get what is at another one, or in a folder.
      let full = await Self.get(fixture, slow[2] + "?", from: "192.0.2.4")
      #expect(full.status == .serviceUnavailable && full["retry-after"] == "1")
      let elsewhere = fresh.replacing("127.0.0.1", with: "localhost")
      #expect(await Self.get(fixture, elsewhere, from: "192.0.2.4").status == .ok)
      gate.open()
      for await status in group { #expect(status == .ok) }
    }
  }

  private static func signer() throws -> URLSigner {
    let key = try #require(URLSigner.Key(parsing: "k:000102030405060708090a0b0c0d0e0f"))
    return try #require(URLSigner(keys: [key]))
  }

  /// A picture of 3000 × 2000 pixels, made once.
  private static let enlarged = Task {
    let small = try ServiceFixture { $0.signer = try? signer() }
    let enlarged = await small.get(try signer().sign(try small.address("3000x2000,fill,enlarge,png")))
    #expect(enlarged.size == PixelSize(3000, 2000))
    return enlarged.data
  }

  /// Where everybody may ask for that picture, and who has the key may ask for more.
  private static func large() async throws -> ServiceFixture {
    let picture = try await enlarged.value
    return try ServiceFixture {
      $0.signer = try? signer()
      $0.sourceHosts = [HostPattern(parsing: "127.0.0.1")].compactMap { $0 }
    } answer: { _ in
      .ok(picture, type: "image/png")
    }
  }

  @Test(arguments: [
    ("3000x2000", 400), ("4096", 400), ("3000x", 400), ("x2000", 400), ("1500x1000,dpr=2", 400),
    ("2100x2000,cover", 400),
    ("3200x100,fill,enlarge", 400), ("40,enlarge", 200), ("2048,cover", 200), ("2400x", 200), ("2048x2048", 200),
    ("800x600,dpr=2", 200),
  ])
  func strangersMayHaveFourMegapixelsAndNothingEnlarged(options: String, status: UInt) async throws {
    let fixture = try await Self.large()
    let address = try fixture.address(options + ",jpeg")
    let response = await fixture.get(address)
    #expect(response.status.code == status, "\(response.text.prefix(300))")
    if status == 200 {
      #expect((response.size?.pixelCount ?? .max) <= 4 << 20)
    } else {
      #expect(response.text.contains("sign"))
      #expect(fixture.library.statistics.decodes == 0)
    }
  }

  @Test func whoHasTheKeyMayHaveMoreAndStrangersDoNotGetWhatIsStoredOfThat() async throws {
    let fixture = try await Self.large()
    for options in ["3000x2000,jpeg", "3000x,jpeg", "3200x100,fill,enlarge,jpeg"] {
      let address = try fixture.address(options)
      let signed = try Self.signer().sign(address)
      // Made, and then from memory.
      for _ in 0..<2 { #expect(await fixture.get(signed).status == .ok, "\(options)") }
      #expect(await fixture.get(address).status.code >= 400, "\(options)")
    }
  }

  @Test func uploadsOfStrangersHaveTheSameLimits() async throws {
    let picture = try Data(contentsOf: Self.picture)
    let open = try ServiceFixture()
    #expect(await open.post(nextcloudPreview(9, 400, crop: true), picture).status == .badRequest)
    #expect(await open.post(nextcloudPreview(40, 40), picture).status == .ok)
    let keyed = try ServiceFixture { $0.imaginaryKey = "secret" }
    #expect(await keyed.post(nextcloudPreview(9, 400, crop: true, key: "secret"), picture).status == .ok)
  }

  @Test(arguments: [
    (HTTPMethod.POST, "/blend", 404, "/pipeline"), (.POST, "/fit?width=40", 410, "/thumb"),
    (.GET, "/pipeline", 405, "POST"), (.DELETE, "/pipeline", 405, "POST"), (.PUT, "/thumb/40/a.jpg", 405, "read"),
    (.POST, "/help", 405, "read"), (.GET, "/blend", 404, "nothing"), (.GET, "/imgproxy/a/w:40/plain/a", 410, "/thumb"),
  ])
  func whatNobodyRespondsToIsNoPayloadThatIsTooLarge(
    method: HTTPMethod, target: String, status: UInt, message: String
  ) async throws {
    let fixture = try ServiceFixture()
    let head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: ["host": "localhost"])
    for response in [
      await fixture.get(target, method: method), fixture.server.refusal(of: .payloadTooLarge, head: head),
    ] {
      #expect(response.status.code == status && response.text.contains(message), "\(response.text)")
    }
  }

  @Test func whatIsTooLargeForAnAddressThatTakesUploadsIsStillThat() throws {
    let fixture = try ServiceFixture()
    let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/pipeline")
    #expect(fixture.server.refusal(of: .payloadTooLarge, head: head).status == .payloadTooLarge)
    for status in [HTTPResponseStatus.tooManyRequests, .serviceUnavailable] {
      #expect(fixture.server.refusal(of: status, head: head)["retry-after"] == "1")
    }
  }
}
