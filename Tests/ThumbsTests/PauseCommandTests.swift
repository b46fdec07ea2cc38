/// `thumbs prefetch` and `get` where hosts and services ask for pauses.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PauseCommandTests {
  private let bench: Bench
  private let picture: Data
  private let lakes: [OriginPicture]

  init() throws {
    bench = try Bench()
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    self.picture = picture
    lakes = (1...5).map { OriginPicture(id: "\($0)", description: "lake \($0)", body: [UInt8](picture)) }
  }

  private func list(_ origin: Origin, _ count: Int) -> ThumbsProcess.Input {
    .bytes(Data((1...count).map { origin.url("/\($0).jpg").absoluteString }.joined(separator: "\n").utf8))
  }

  @Test func aSearchThatIsAskedForAPauseGoesOnAfterIt() async throws {
    let service = try PhotoServiceOrigin.commons(lakes)
    let maxlag = OriginResponse(
      status: 200, headers: [("Content-Type", "application/json"), ("Retry-After", "1")],
      body: Array(#"{"error":{"code":"maxlag","info":"Waiting for a database"}}"#.utf8))
    service.failNext(with: .tooManyRequests(retryAfter: "1"), maxlag)
    let run = try await bench.run("prefetch", "--query", "lake", "--provider", "commons:\(service.baseURL)", "--json")
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try run.pictures().count == 5)
    #expect(run.complaints.filter { $0 == "thumbs: commons asks for a pause of 1 s; waiting" }.count == 1)
  }

  @Test func aSearchThatMayNotWaitEnds() async throws {
    let service = try PhotoServiceOrigin.commons(lakes)
    service.failNext(with: .tooManyRequests(retryAfter: "3"))
    let run = try await bench.run(
      "prefetch", "--query", "lake", "--provider", "commons:\(service.baseURL)", "--max-wait", "2s"
    )
    expectComplaint(run, 69, "commons takes no more requests for now; try again in 3 s")
    #expect(service.apiRequests.count == 1)
  }

  @Test func picturesWaitForTheirHostAndAreAllFetched() async throws {
    let refusals = Atomic(10)
    let origin = try Origin { [picture] _ in
      refusals.wrappingSubtract(1, ordering: .relaxed).oldValue > 0
        ? .tooManyRequests(retryAfter: "1") : .ok(picture, type: "image/jpeg")
    }
    let run = try await bench.run("prefetch", "--urls", "-", "--json", input: list(origin, 30))
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try run.summary().stored == 30)
    #expect(origin.requests.count == 40)
    #expect(run.complaints.contains("thumbs: 127.0.0.1:\(origin.port) asks for a pause of 1 s; waiting"))
  }

  @Test func whatWouldHaveToWaitTooLongFailsAndSaysSo() async throws {
    let origin = try Origin { _ in .tooManyRequests(retryAfter: "500") }
    let run = try await bench.run("prefetch", "--urls", "-", "--quiet", input: list(origin, 200))
    #expect(run.status == 1)
    #expect(run.complaints.count == 200 && run.complaints.allSatisfy { $0.contains("the server asks for a pause") })
    // Those that were under way, of which there are more on a busy machine.
    #expect((1..<100).contains(origin.requests.count), "\(origin.requests.count) requests")

    // Another process knows, and does not even ask.
    let asked = origin.requests.count
    let get = try await bench.process("get", origin.url("/x.jpg").absoluteString, "--output", "x.jpg")
    expectComplaint(get, 1, "asks for a pause; try again in")
    #expect(origin.requests.count == asked)
  }

  @Test func getDoesNotWait() async throws {
    let origin = try Origin { _ in .tooManyRequests(retryAfter: "2") }
    let run = try await bench.run("get", origin.url("/x.jpg").absoluteString, "--output", "x.jpg")
    #expect(run.status == 1 && run.stderr.contains("try again in 2 s"))
    #expect(origin.requests.count == 1)
  }
}
