/// What holds a credential: after a run, nothing but the servers it is for has seen it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CredentialSecrecyTests {
  /// Stands in every credential of a run, and nowhere else.
  private static let secret = "hunter2"
  /// The same behind a name, as logins travel.
  private static let login = Data("ada:\(secret)".utf8).base64EncodedString()

  private let bench: Bench
  private let origin: Origin
  private let elsewhere: Origin

  init() throws {
    bench = try Bench()
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let other = try Origin { _ in .ok(picture, type: "image/jpeg") }
    elsewhere = other
    origin = try Origin { request in
      switch request.path {
      case "/away.jpg": .redirect(to: other.url("/there.jpg").absoluteString)
      case "/moved.jpg": .redirect(to: "/good.jpg?token=\(Self.secret)")
      case "/gone.jpg": .status(404)
      case "/page.jpg": .ok("<html>".utf8, type: "text/html")
      case "/down.jpg": .status(503, "later")
      // Large enough to be gone on with: its beginning is kept.
      case "/cut.jpg":
        .ok([UInt8](picture) + [UInt8](repeating: 7, count: 2 << 20)).header("ETag", "\"a\"")
          .header("Accept-Ranges", "bytes").truncated(after: 1 << 20)
      default: .ok(picture, type: "image/jpeg").header("ETag", "\"a\"").header("Cache-Control", "no-cache")
      }
    }
  }

  private static let paths = [
    "/good.jpg", "/away.jpg", "/moved.jpg", "/gone.jpg", "/page.jpg", "/down.jpg", "/cut.jpg",
  ]

  /// A list of the pictures, each with its login in the URL, with fields of its line, and bare; `--header` is for all of
  /// them. One is at a host that another `--header` is for.
  private var list: Data {
    let host = "127.0.0.1:\(origin.port)"
    let lines = Self.paths.flatMap { path in
      [
        "http://ada:\(Self.secret)@\(host)\(path)?n=1&key=\(Self.secret)",
        #"{"url": "http://\#(host)\#(path)?n=2&key=\#(Self.secret)", "headers": {"X-Api-Key": "\#(Self.secret)"}}"#,
        "http://\(host)\(path)?n=3&key=\(Self.secret)",
      ]
    }
    let others = [
      "\(origin.url("/known.jpg", host: "localhost"))", "ftp://ada:\(Self.secret)@host/",
      "http://ada:\(Self.secret)@ho st/",
    ]
    return Data((lines + others).joined(separator: "\n").utf8)
  }

  private func prefetch(_ options: [String]) async throws -> Run {
    try await bench.start(
      [
        "prefetch", "--urls", "-", "--verbose", "--header", "localhost=Authorization: Basic \(Self.login)", "--header",
        "127.0.0.1:\(origin.port)=Cookie: session=\(Self.secret)", "--sheet", "sheet.html", "--export", "small",
      ] + options, input: .bytes(list)
    ).run()
  }

  /// The files below the bench whose name or bytes hold the secret in any of its forms.
  private func files(holding texts: [String]) throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: bench.directory.path)
    return names.filter { name in
      let bytes = FileManager.default.contents(atPath: bench.url(name).path) ?? Data()
      return texts.contains { name.contains($0) || bytes.range(of: Data($0.utf8)) != nil }
    }
  }

  private func expectSecrecy(_ run: Run, _ location: SourceLocation = #_sourceLocation) throws {
    let texts = [Self.secret, Self.login]
    let said = run.stderr + String(decoding: run.stdout, as: UTF8.self)
    #expect(!texts.contains { said.contains($0) }, "\(said)", sourceLocation: location)
    #expect(try files(holding: texts).isEmpty, sourceLocation: location)
  }

  @Test(arguments: [[], ["--json"]]) func noReportSheetFileOrDatabaseHoldsThem(options: [String]) async throws {
    for round in 1...2 {
      let run = try await prefetch(options)
      #expect(run.status == 1, "\(run.stderr)")
      try expectSecrecy(run)
      // What could hold it is there: the sheet, the database and a kept beginning.
      let made = try FileManager.default.subpathsOfDirectory(atPath: bench.directory.path)
      for name in ["sheet.html", "cache/thumbnails-v2.sqlite"] { #expect(made.contains(name), "round \(round)") }
      #expect(made.contains { $0.hasPrefix("cache/partial/") && $0.hasSuffix(".json") })
    }
    let sent = origin.requests(for: "/good.jpg").map { $0.request }
    #expect(sent.contains { $0.value(of: "Authorization") == "Basic \(Self.login)" })
    #expect(sent.contains { $0.value(of: "X-Api-Key") == Self.secret })
    #expect(sent.allSatisfy { $0.value(of: "Cookie") == "session=\(Self.secret)" })
    let known = origin.requests(for: "/known.jpg").map { $0.request.value(of: "Authorization") }
    #expect(!known.isEmpty && known.allSatisfy { $0 == "Basic \(Self.login)" })
    #expect(!elsewhere.requests.isEmpty)
    for request in elsewhere.requests.map(\.request) {
      #expect(!request.headers.contains { $0.value.contains(Self.secret) || $0.value.contains(Self.login) })
      #expect(!request.target.contains(Self.secret))
    }
  }

  @Test func theCommandsThatShowTheCacheDoNotKnowThem() async throws {
    _ = try await prefetch([])
    let commands: [[String]] = [
      ["cache", "stats", "--json"], ["cache", "list", "--json"], ["cache", "list"], ["doctor", "--json"],
      ["get", "http://ada:\(Self.secret)@127.0.0.1:\(origin.port)/gone.jpg", "--output", "a.jpg", "--verbose"],
    ]
    for command in commands { try expectSecrecy(try await bench.start(command).run()) }
  }

  @Test func aListOfPicturesShowsNone() async throws {
    for options in [["--json"], []] {
      let run = try await bench.run(["search", "--urls", "-"] + options, input: .bytes(list))
      #expect(run.status == 0 && run.lines.count >= 19, "\(run.stderr)")
      #expect(!(run.stderr + run.lines.joined()).contains(Self.secret), "\(run.lines)")
    }
  }

  @Test func aRunThatIsKilledLeavesNone() async throws {
    let gate = Gate()
    let held = try Origin { [body = Array(try TestImages.bytes("formats/jpeg-420.jpg"))] request in
      request.path == "/held" ? .ok(body).held(by: gate) : .ok(body, type: "image/jpeg")
    }
    let address = "ada:\(Self.secret)@127.0.0.1:\(held.port)"
    let process = try bench.start(
      ["prefetch", "--urls", "-", "--json"],
      input: .bytes(Data("http://\(address)/a\nhttp://\(address)/held\n".utf8)))
    #expect(await process.comes { printed, _ in printed.contains("\n") })
    // Real time: a server has no event for its test.
    #expect(await eventually { !held.requests(for: "/held").isEmpty })
    process.send(SIGKILL)
    _ = await process.run()
    #expect(try files(holding: [Self.secret, Self.login]).isEmpty)
    #expect(FileManager.default.fileExists(atPath: bench.cache.appending(path: "thumbnails-v2.sqlite").path))
  }

  @Test func aProxysLoginIsNotShown() async throws {
    let closed = try Origin { _ in .status(404) }
    closed.stop()
    for variable in ["THUMBS_PROXY", "http_proxy"] {
      let environment = [variable: "http://ada:\(Self.secret)@127.0.0.1:\(closed.port)"]
      let run = try await bench.process(
        "get", "http://picture.example/a.jpg", "-o", "a.jpg", "--verbose", environment: environment)
      #expect(run.status == 69 || run.status == 1, "\(run.status)")
      #expect(run.stderr.contains("127.0.0.1") && !run.stderr.contains(Self.secret), "\(run.stderr)")
      let doctor = try await bench.start(["doctor"], environment: environment).run()
      #expect(!(doctor.stderr + doctor.lines.joined()).contains(Self.secret))
    }
  }
}
