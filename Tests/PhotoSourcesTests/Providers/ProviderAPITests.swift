@testable import HTTPSemantics
@testable import HTTPTransport
@testable import PhotoSources
@testable import ThumbnailCache

@Suite(.timeLimit(.minutes(5))) struct ProviderAPITests {
  private let clock = TestClock()
  private let base = URL(string: "https://api.example.org/root")

  private func api(
    _ client: StubHTTPClient, interval: Duration = .zero, key: String? = "SECRET"
  ) throws -> ProviderAPI {
    ProviderAPI(
      ProviderDialect(name: "example", pace: .init(interval: interval, atOnce: 1)), baseURL: try #require(base),
      key: key.flatMap { AccessKey($0) }, client: client, clock: clock.clock)
  }

  private func error(_ api: ProviderAPI) async throws -> ProviderError? {
    do throws(ProviderError) {
      _ = try await api.get(api.url("x", []))
      return nil
    } catch {
      return error
    }
  }

  @Test func aServerThatAsksForAPauseIsLeftAlone() async throws {
    let client = StubHTTPClient { _, number in
      .success(
        HTTPResponse(
          status: number == 1 ? 429 : 200, headers: [], body: Data("<html>slow down</html>".utf8),
          retryAfter: .seconds(20)))
    }
    let api = try api(client)
    #expect(try await error(api) == .rateLimited(provider: "example", retryAfter: .seconds(20)))
    clock.advance(by: .seconds(5))
    #expect(try await error(api) == .rateLimited(provider: "example", retryAfter: .seconds(15)))
    #expect(client.requests.count == 1)
    clock.advance(by: .seconds(15))
    #expect(try await error(api) == nil)
    #expect(client.requests.count == 2)
  }

  @Test func aServerThatDoesNotSayForHowLongIsLeftAloneAllTheSame() async throws {
    let client = StubHTTPClient(429, "slow down")
    let api = try api(client)
    for (pause, requests) in [(0, 1), (0, 1), (60, 2)] {
      clock.advance(by: .seconds(pause))
      #expect(try await error(api) == .rateLimited(provider: "example", retryAfter: .seconds(60)))
      #expect(client.requests.count == requests)
    }
  }

  /// Each service has header fields of its own for that. It is ten minutes before a full hour.
  @Test(arguments: [
    (PhotoService.unsplash(), ["X-Ratelimit-Remaining": "0"], Duration.seconds(600)),
    (.pexels, ["X-Ratelimit-Remaining": "0"], .seconds(3600)),
    (.pexels, ["X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1800010200"], .seconds(7200)),
  ])
  func aUsedUpLimitIsNotAskedFurther(service: PhotoService, headers: [String: String], pause: Duration) async throws {
    let clock = TestClock(at: 1_800_003_000)
    let client = StubHTTPClient(
      200, #"{"results":[],"photos":[]}"#, headers: headers.map { HTTPHeader($0.key, $0.value) })
    let provider = ServiceProvider(
      service, baseURL: try #require(base), key: AccessKey("SECRET"), client: client, clock: clock.clock)
    #expect(try await searchError(provider) == nil)
    #expect(try await searchError(provider) == .rateLimited(provider: service.dialect.name, retryAfter: pause))
    #expect(client.requests.count == 1)
    clock.advance(by: pause)
    #expect(try await searchError(provider) == nil)
  }

  @Test func processesThatShareACacheKeepTheLimitTogether() async throws {
    let folder = try TemporaryFolder()
    // Three with clocks of their own, whose date stands still: each turn is one more interval away.
    let clocks = (0..<3).map { _ in TestClock() }
    let apis = try clocks.map { clock in
      let client = StubHTTPClient(200, "{}", ledger: HostFile(directory: folder.url) { clock.clock.date() })
      return ProviderAPI(
        PhotoService.commons().dialect, baseURL: try #require(base), client: client, clock: clock.clock)
    }
    for _ in 0..<7 { for api in apis { _ = try await api.get(api.url("x", [])) } }
    let waits = clocks.flatMap(\.waits).map { $0 / .seconds(1) }.sorted()
    #expect(waits.count == 20)
    for (wait, number) in zip(waits, 1...) { #expect(abs(wait - 0.3 * Double(number)) < 0.01) }
  }

  @Test func aPauseThatOneProcessWasToldHoldsForAll() async throws {
    let folder = try TemporaryFolder()
    let clients = (0..<2).map { _ in
      StubHTTPClient(
        429, retryAfter: .seconds(20), ledger: HostFile(directory: folder.url) { [clock] in clock.clock.date() })
    }
    for client in clients {
      let error = try await error(api(client))
      #expect(error?.code == "rate-limited" && abs((error?.retryAfter ?? .zero) / .seconds(1) - 20) < 0.01)
    }
    #expect(clients.map(\.requests.count) == [1, 0])
  }

  @Test(arguments: [(Duration.zero, Duration.seconds(1)), (.seconds(1 << 31), .seconds(86_400))])
  func noPauseIsOfNoLengthOrLongerThanADay(told: Duration, kept: Duration) async throws {
    let client = StubHTTPClient(429, retryAfter: told)
    #expect(try await error(try api(client)) == .rateLimited(provider: "example", retryAfter: kept))
  }

  /// As somebody types, all searches but the last are given up while they wait for their turn.
  @Test func searchesThatAreGivenUpBeforeTheirTurnDoNotDelayTheNext() async throws {
    let givesUp = Mutex(false)
    var impatient = clock.clock
    impatient.sleep = { [wait = clock.clock.sleep] duration in
      if givesUp.withLock({ $0 }) { throw CancellationError() }
      try await wait(duration)
    }
    let client = StubHTTPClient("{}")
    let api = ProviderAPI(
      ProviderDialect(name: "example", pace: .init(interval: .seconds(3), atOnce: 1)), baseURL: try #require(base),
      client: client, clock: impatient)
    #expect(try await error(api) == nil)
    givesUp.withLock { $0 = true }
    for _ in 0..<5 { #expect(try await error(api) == .cancelled) }
    givesUp.withLock { $0 = false }
    #expect(try await error(api) == nil)
    #expect(clock.waits == [.seconds(3)] && client.requests.count == 2)
  }

  @Test func theKeyGoesToTheOwnHostOnly() async throws {
    let client = StubHTTPClient("{}")
    let api = try api(client)
    _ = try await api.get(api.url("x", []))
    #expect(client.requests.first?.headers.contains(HTTPHeader("Authorization", "SECRET")) == true)
    for other in ["https://api.example.net/root/x", "http://api.example.org/x", "https://api.example.org:444/x"] {
      let url = try #require(URL(string: other))
      await #expect(throws: ProviderError.self) { try await api.get(url) }
    }
    #expect(client.requests.count == 1)
  }

  @Test(arguments: [
    (#"{"errors":["one","two"]}"#, "one, two"), (#"{"error":{"code":"x","info":"broken"}}"#, "broken"),
    (#"{"error":"plain"}"#, "plain"), (#"{"detail":"too many"}"#, "too many"), (#"{"message":"no"}"#, "no"),
    (#"{"detail":{"q":["too long"],"page":["not a number","odd"]}}"#, "page: not a number, odd, q: too long"),
    ("<html><head><style>b{}</style><title>Just a moment</title></head></html>", "Just a moment"),
    ("plain SECRET text", "plain [key] text"), ("", "an empty answer"), ("<p></p>", "an empty page"),
  ])
  func saysWhatTheAnswerSays(body: String, reason: String) async throws {
    #expect(try await error(try api(StubHTTPClient(400, body))) == .badRequest(provider: "example", reason: reason))
    #expect(try await error(try api(StubHTTPClient(403, body))) == .blocked(provider: "example", reason: reason))
  }

  @Test func withoutAKeyA401IsNotAboutTheKey() async throws {
    let refusal = StubHTTPClient(401, #"{"detail":"page_size may not exceed 20 for anonymous requests"}"#)
    #expect(try await error(try api(refusal))?.code == "unauthorized")
    #expect(try await error(try api(refusal, key: nil))?.code == "bad-request")
  }
}
