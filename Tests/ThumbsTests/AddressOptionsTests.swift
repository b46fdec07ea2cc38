/// Which addresses the command reaches.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AddressOptionsTests {
  private let bench: Bench
  private let origin: Origin

  init() throws {
    bench = try Bench()
    origin = try .picture()
  }

  @Test func aListOfStrangersDoesNot() async throws {
    let list = "\(origin.url("/a"))\n\(origin.url("/b", host: "localhost"))\n"
    let run = try await bench.run(
      "prefetch", "--urls", "-", "--json", "--public-addresses-only", input: .bytes(Data(list.utf8)))
    let pictures = try run.pictures()
    #expect(run.status == 1 && pictures.map(\.error?.code) == ["address-refused", "address-refused"])
    let messages = pictures.compactMap(\.error?.message)
    #expect(messages.allSatisfy { $0.contains("serve --allow-network") }, "\(messages)")
    #expect(messages.allSatisfy { !$0.contains("127.0.0.1") && !$0.contains("::1") }, "\(messages)")
    #expect(origin.connectionCount == 0)
  }

  @Test func onlyTheVerboseLogNamesTheAddress() async throws {
    let get = ["get", "\(origin.url("/a", host: "localhost"))", "-o", "a.jpg", "--public-addresses-only"]
    let run = try await bench.start(get + ["--verbose"]).run()
    #expect(run.stderr.contains("refused to connect to 127.0.0.1 (loopback) for http://localhost:"), "\(run.stderr)")
    let quiet = try await bench.run(get)
    #expect(quiet.status == 1 && !quiet.stderr.contains("127.0.0.1"), "\(quiet.stderr)")
  }

  @Test func aPhotoServiceOnThisMachineIsNotAsked() async throws {
    let run = try await bench.run(
      "search", "--query", "", "--provider", "commons:\(origin.url())", "--public-addresses-only")
    #expect(run.status == 64 && run.stderr.contains("commons is not asked"), "\(run.stderr)")
    #expect(origin.connectionCount == 0)
  }

  @Test func aProxyOfTheEnvironmentMustBeNamedOrLeftOut() async throws {
    let environment = ["http_proxy": "http://127.0.0.1:\(origin.port)"]
    let get = ["get", "http://picture.example/a.jpg", "-o", "a.jpg", "--public-addresses-only"]
    let run = try await bench.start(get, environment: environment).run()
    #expect(
      run.status == 64 && run.stderr.contains("http_proxy") && run.stderr.contains("(THUMBS_PROXY)"), "\(run.stderr)")
    #expect(origin.connectionCount == 0)
    let named = ["THUMBS_PROXY": "http://127.0.0.1:\(origin.port)"].merging(environment) { $1 }
    #expect(try await bench.start(get, environment: named).run().status == 0)
  }
}
