/// Proxies, credentials and names on the command line.
@Suite(.serialized, .timeLimit(.minutes(5))) struct NetworkOptionsTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private func picture() throws -> Origin { try .picture() }

  @Test func theEnvironmentsProxyIsUsedAndNoProxyHeeded() async throws {
    let proxy = try picture()
    let environment = ["http_proxy": "http://127.0.0.1:\(proxy.port)"]
    let run = try await bench.process("get", "http://picture.example/a.jpg", "-o", "a.jpg", environment: environment)
    #expect(run.status == 0, "\(run.stderr)")
    #expect(proxy.requests.map(\.target) == ["http://picture.example/a.jpg"])

    let origin = try picture()
    let direct = environment.merging(["no_proxy": "127.0.0.1"]) { $1 }
    #expect(try await bench.process("get", "\(origin.url("/b"))", "-o", "b.jpg", environment: direct).status == 0)
    let none = environment.merging(["THUMBS_PROXY": "none"]) { $1 }
    #expect(try await bench.process("get", "\(origin.url("/c"))", "-o", "c.jpg", environment: none).status == 0)
    #expect(origin.requests.map(\.target) == ["/b", "/c"] && proxy.requests.count == 1)
    // One for this program overrules the others.
    let own = [
      "THUMBS_PROXY": environment["http_proxy"] ?? "", "http_proxy": "http://127.0.0.1:1",
      "no_proxy": "picture.example",
    ]
    #expect(try await bench.process("get", "http://picture.example/d", "-o", "d.jpg", environment: own).status == 0)
    #expect(proxy.requests.count == 2)
  }

  @Test func aProxyThatWantsALoginSaysWhatToDo() async throws {
    let proxy = try Origin { _ in .status(407) }
    let run = try await bench.run(
      "get", "http://picture.example/a.jpg", "-o", "a.jpg",
      keys: ["THUMBS_PROXY": "http://127.0.0.1:\(proxy.port)"])
    #expect(run.status != 0 && run.stderr.contains("the proxy wants a login"), "\(run.stderr)")
  }

  @Test func theNameThatServersSeeNamesTheProgramAndItsLibrary() async throws {
    let origin = try picture()
    #expect(try await bench.run("get", "\(origin.url("/a"))", "-o", "a.jpg").status == 0)
    let version = try #require(try await bench.run(["--version"]).lines.first)
    let name = try #require(origin.requests.first?.request.value(of: "User-Agent"))
    #expect(name.hasPrefix("thumbs/\(version) libcurl/"), "\(name)")
  }

  @Test func headersGoToTheirHostAndItsRedirectsOnly() async throws {
    let elsewhere = try picture()
    let origin = try Origin { request in
      request.path == "/moved" ? .redirect(to: elsewhere.url("/there").absoluteString) : .picture
    }
    let run = try await bench.process(
      "prefetch", "--urls", "-", "--header", "127.0.0.1:\(origin.port)=Authorization: Bearer hunter2",
      "--header", "*=Accept-Language: de", "--header",
      "*=User-Agent: probe/1 (+https://example.org)", "--verbose",
      input: .bytes(Data("\(origin.url("/a.jpg"))\n\(origin.url("/moved"))\n\(elsewhere.url("/b.jpg"))\n".utf8)))
    #expect(run.status == 0, "\(run.stderr)")
    for record in origin.requests {
      #expect(record.request.value(of: "Authorization") == "Bearer hunter2")
      #expect(record.request.value(of: "User-Agent") == "probe/1 (+https://example.org)")
    }
    for record in elsewhere.requests { #expect(record.request.value(of: "Authorization") == nil) }
    #expect(elsewhere.requests(for: "/b.jpg").first?.request.value(of: "Accept-Language") == "de")
    #expect(origin.requests.count == 2 && elsewhere.requests.count == 2)
  }

  @Test func getsHeaderNeedsNoHost() async throws {
    let origin = try picture()
    let run = try await bench.run("get", "\(origin.url("/a"))", "-o", "a.jpg", "--header", "X-Key: a=b")
    #expect(run.status == 0, "\(run.stderr)")
    #expect(origin.requests.first?.request.value(of: "X-Key") == "a=b")
  }

  @Test func loginsComeFromNetrcOnlyWhenAsked() async throws {
    let origin = try picture()
    let netrc = bench.url("home/.netrc")
    try Data("machine 127.0.0.1 login ada password hunter2\n".utf8).write(to: netrc)
    #expect(chmod(netrc.path, 0o600) == 0)
    #expect(try await bench.run("get", "\(origin.url("/a"))", "-o", "a.jpg").status == 0)
    #expect(try await bench.run("get", "\(origin.url("/a"))", "-o", "a.jpg", "--netrc-file", netrc.path).status == 0)
    // The second is another picture to the cache, since it was fetched with credentials.
    #expect(
      origin.requests.map { $0.request.value(of: "Authorization") } == [
        nil, "Basic \(Data("ada:hunter2".utf8).base64EncodedString())",
      ])
  }

  @Test(arguments: [
    ("THUMBS_PROXY", "hunter2", "THUMBS_PROXY is no URL"),
    ("THUMBS_PROXY", "gopher://hunter2:1", "THUMBS_PROXY is no URL"),
    ("SSL_CERT_FILE", "nowhere.pem", "SSL_CERT_FILE nowhere.pem cannot be read: No such file"),
  ])
  func variablesThatCannotBeUsedAreSaidWithoutSecrets(name: String, value: String, says: String) async throws {
    let run = try await bench.run("get", "https://picture.example/a", "-o", "a.jpg", keys: [name: value])
    expectComplaint(run, 64, says)
    #expect(!run.stderr.contains("hunter2"))
  }
}
