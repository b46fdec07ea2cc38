/// `thumbs prefetch` with photo services, against copies of them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PhotoServiceTests {
  private let bench: Bench
  private let lakes: [OriginPicture]

  init() throws {
    bench = try Bench()
    let body = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
    lakes = (1...3).map { OriginPicture(id: "\($0)", description: "lake \($0)", body: body) }
  }

  private func prefetch(
    _ provider: String, _ service: PhotoServiceOrigin, _ more: String..., environment: [String: String] = [:]
  ) async throws -> Run {
    try await bench.start(
      ["prefetch", "--query", "lake", "--provider", "\(provider):\(service.baseURL)", "--json"] + more,
      environment: environment
    ).run()
  }

  private func credits(_ run: Run) throws -> [[String: String]] {
    try run.lines.dropLast().map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return try #require(object?["credit"] as? [String: String])
    }
  }

  @Test func everyServiceIsSearchedAndItsPicturesAreCredited() async throws {
    let services: [(String, PhotoServiceOrigin, String, String)] = [
      ("pexels", try .pexels(lakes, accessKey: "key-of-a-test"), "Test C", "Pexels License"),
      ("commons", try .commons(lakes), "Test B & Co", "CC BY-SA 4.0"),
    ]
    for (name, service, author, licence) in services {
      let run = try await prefetch(name, service, "--size", "40x40", environment: ["PEXELS_API_KEY": "key-of-a-test"])
      #expect(run.status == 0 && run.stderr.isEmpty, "\(name): \(run.stderr)")
      #expect(try run.pictures().count == 3)
      let summary = try run.summary()
      #expect(summary.provider == name && summary.stored == 3)
      let credits = try credits(run)
      #expect(credits.allSatisfy { $0["author"] == author && $0["licence"] == licence }, "\(name)")
      #expect(credits.allSatisfy { $0["text"] != nil && $0["page"]?.hasPrefix("https://") == true })
      // The key goes to the API, not to the pictures.
      #expect(service.imageRequests.allSatisfy { $0.request.value(of: "Authorization") == nil })

      let again = try await prefetch(
        name, service, "--size", "40x40", "--verbose", environment: ["PEXELS_API_KEY": "key-of-a-test"])
      #expect(try again.summary().hits == 3, "\(name)")
      #expect(!(run.lines + again.lines + again.complaints).contains { $0.contains("key-of-a-test") })
    }
    let files = try bench.files("cache")
    #expect(!files.isEmpty && files.values.allSatisfy { $0.firstRange(of: Data("key-of-a-test".utf8)) == nil })
  }

  @Test(
    arguments: [("pexels", ["PEXELS_API_KEY": "a-key-of-a-test"]), ("commons", [:])] as [(String, [String: String])])
  func theDefaultGoesByTheKeysThatAreSet(name: String, environment: [String: String]) async throws {
    let run = try await bench.run("prefetch", "--query", "lake", "--offline", keys: environment)
    #expect(run.status == 69 && run.stderr.contains("\(name) is not asked with --offline"), "\(run.stderr)")
  }

  @Test func offlineNeedsNoKeyAndTellsNobody() async throws {
    let unsplash = try UnsplashOrigin(pictures: lakes)
    let online = try await bench.run(
      "prefetch", "--query", "lake", "--provider", "unsplash:\(unsplash.baseURL)",
      keys: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])
    #expect(online.status == 0)
    let requests = unsplash.origin.requests.count
    let offline = try await bench.run(
      "prefetch", "--query", "lake", "--provider", "unsplash", "--offline", "--export", "out")
    #expect(offline.status == 0 && offline.lines.first?.hasPrefix("3 pictures from unsplash") == true)
    #expect(offline.complaints.count == 1 && offline.stderr.contains("the export of 3 photos could not be reported"))
    #expect(unsplash.origin.requests.count == requests)
    let nothing = try await bench.run(
      "prefetch", "--query", "lake", "--provider", "pexels", "--offline", "--disk-cache", "0")
    #expect(nothing.status == 69 && nothing.stderr.contains("nothing is stored of it"))
  }
}
