@testable import HTTPTransport

/// Redirects: followed, counted, and never a way for credentials to leave their host.
@Suite(.timeLimit(.minutes(5))) struct DownloadRedirectTests {
  private let secret = [HTTPHeader("Authorization", "Client-ID x"), HTTPHeader("X-Api-Key", "y")]

  @Test(arguments: [301, 302, 303, 307, 308]) func followsRelativeRedirects(status: Int) async throws {
    let origin = try Origin { request in
      request.path == "/a/start" ? .redirect(to: "../b?c=d e", status: status) : .ok([9])
    }
    let download = try await Downloader(.quick()).fetch(origin.url("/a/start"))
    #expect(try download.bytes == [9])
    #expect(download.url.text == origin.url("/b?c=d+e").absoluteString)
    #expect(download.attempts == 1)
    #expect(origin.connectionCount == 1)
  }

  @Test(
    arguments: [([0xE9], "%E9"), ([0xC3, 0xA9], "%c3%a9"), ([0xC3, 0xA9, 0xFF], "%C3%A9%FF")] as [([UInt8], String)])
  func theBytesOfALocationAreSentAsTheyCame(bytes: [UInt8], sent: String) async throws {
    let origin = try Origin { request in
      request.path == "/start" ? .status(302).line(Array("Location: /caf".utf8) + bytes) : .ok([9])
    }
    _ = try await Downloader(.quick()).fetch(origin.url("/start"))
    #expect(origin.requests.last?.request.target == "/caf\(sent)")
  }

  @Test func whatHasFailedComesAfterAllOthersAfterARedirectToo() async throws {
    let (failure, gate) = (Gate(), Gate())
    let other = try Origin { request in
      request.number == 1 ? .status(500).held(by: failure) : .ok([1]).held(by: gate)
    }
    let origin = try Origin { request in .redirect(to: other.url(request.path).absoluteString) }
    let downloader = Downloader(.quick { $0.maximumDownloadsPerHost = 1 })
    let first = Task { await downloader.failure(of: origin.url("/0")) }
    #expect(await eventually { other.requests.count == 1 })
    let others = (1...5).map { number in Task { await downloader.failure(of: origin.url("/\(number)")) } }
    #expect(await eventually { origin.requests.count == 6 && downloader.waitingDownloads == 5 })
    failure.open()
    // All have been redirected, the first one twice; one of them runs.
    #expect(await eventually { origin.requests.count == 7 && downloader.waitingDownloads == 5 })
    gate.open()
    for task in [first] + others { #expect(await task.value == nil) }
    #expect(other.requests.last?.path == "/0")
  }

  @Test func sendsNoneOfItsHeadersToAnotherHostNorBack() async throws {
    let other = try Origin { request in
      request.path == "/there" ? .redirect(to: request.query["back"] ?? "") : .ok([1])
    }
    let origin = try Origin { request in
      let back = "http://\(request.value(of: "Host") ?? "")/back"
      return request.path == "/1" ? .redirect(to: other.url("/there?back=\(back)").absoluteString) : .ok([1])
    }
    _ = try await Downloader(.quick()).fetch(origin.url("/1"), headers: secret)
    let there = try #require(other.requests(for: "/there").first).request
    let back = try #require(origin.requests(for: "/back").first).request
    for request in [there, back] {
      #expect(request.value(of: "Authorization") == nil)
      #expect(request.value(of: "X-Api-Key") == nil)
      #expect(request.value(of: "User-Agent")?.hasPrefix("libcurl/") == true)
    }
  }

  @Test func aLoginInTheURLStaysWithItsHost() async throws {
    let other = try Origin { _ in .ok([1]) }
    let origin = try Origin { request in
      let here = "http://\(request.value(of: "Host") ?? "")"
      return switch request.path {
      case "/relative": .redirect(to: "/end")
      case "/absolute": .redirect(to: "\(here)/end")
      case "/away": .redirect(to: other.url("/end").absoluteString)
      case "/schemeless": .redirect(to: "//127.0.0.1:\(other.port)/end")
      default: .ok([1])
      }
    }
    let login = "Basic \(Data("ada:p@ss wörd".utf8).base64EncodedString())"
    for path in ["/relative", "/absolute", "/away", "/schemeless"] {
      let url = try #require(URL(string: "http://ada:p%40ss%20w%C3%B6rd@127.0.0.1:\(origin.port)\(path)"))
      let download = try await Downloader(.quick()).fetch(url)
      #expect(origin.requests(for: path).map { $0.request.value(of: "Authorization") } == [login])
      #expect(!download.url.text.contains("ada"))
    }
    #expect(origin.requests(for: "/end").map { $0.request.value(of: "Authorization") } == [login, login])
    #expect(other.requests.map { $0.request.value(of: "Authorization") } == [nil, nil])
  }

  @Test func aFieldOfTheRequestGoesBeforeTheLoginInItsURL() async throws {
    let origin = try Origin { _ in .ok([1]) }
    let url = try #require(URL(string: "http://ada:x@127.0.0.1:\(origin.port)/"))
    _ = try await Downloader(.quick()).fetch(url, headers: [HTTPHeader("authorization", "Bearer y")])
    let sent = try #require(origin.requests.first).request.headers.filter { $0.name.lowercased() == "authorization" }
    #expect(sent.map(\.value) == ["Bearer y"])
  }

  @Test func aLoopEndsAtTheLimit() async throws {
    let origin = try Origin { _ in .redirect(to: "/again") }
    #expect(await Downloader(.quick()).failure(of: origin.url()) == .tooManyRedirects(limit: 5))
    #expect(origin.requests.count == 6)
  }

  @Test(arguments: ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:image/png;base64,AA=="])
  func leavesTheWebForNobody(location: String) async throws {
    let origin = try Origin { _ in .redirect(to: location) }
    switch await Downloader(.quick()).failure(of: origin.url()) {
    case .redirectToUnsupportedScheme, .invalidResponse: break
    case let other: Issue.record("\(String(describing: other))")
    }
    #expect(origin.requests.count == 1)
  }

  @Test func aRedirectToNowhereIsAStatus() async throws {
    let origin = try Origin { _ in .status(302) }
    #expect(await Downloader(.quick()).failure(of: origin.url()) == .httpStatus(302, retryAfter: nil))
  }

  @Test func aTransferOnTheSecondHostCountsForThatHost() async throws {
    let gate = Gate()
    let second = try Origin { _ in .ok([1]).held(by: gate) }
    let first = try Origin { request in .redirect(to: second.url(request.path).absoluteString) }
    let downloader = Downloader(.quick { $0.maximumDownloadsPerHost = 2 })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask { _ = try await downloader.fetch(first.url("/\(number)")) }
      }
      #expect(await eventually { first.requests.count == 8 && second.runningRequests == 2 })
      #expect(await eventually { downloader.activeDownloads == 2 && downloader.waitingDownloads == 6 })
      gate.open()
      try await group.waitForAll()
    }
    #expect(second.maximumSimultaneousRequests == 2)
    #expect(second.requests.count == 8)
  }
}

@Suite struct TransferRedirectTests {
  @Test func keepsHeadersFromHTTPToHTTPSOfTheSameHostOnly() throws {
    for (from, to, keeps) in [
      ("http://a.example/x", "https://a.example/x", true), ("http://a.example/x", "/y", true),
      ("https://a.example/x", "http://a.example/x", false),
      ("https://a.example/x", "https://A.EXAMPLE:443/y", true),
      ("https://a.example/x", "https://b.a.example/x", false),
      ("https://a.example/x", "https://a.example:8443/x", false),
      ("http://a.example:8080/x", "https://a.example/x", false),
      ("https://a.example/x", "//a.example/y", true),
    ] {
      let url = try #require(URL(string: from))
      let request = DownloadRequest(url: url, headers: [HTTPHeader("X-Key", "1")], byteLimit: 1)
      var transfer = try Transfer(request, .quick())
      try transfer.follow(to)
      #expect(transfer.headers.isEmpty == !keeps, "\(from) to \(to)")
    }
  }

  @Test func readsURLsAsLibcurlDoes() throws {
    let url = try #require(CurlURL("HTTPS://User@Example.COM/a%20b?c"))
    #expect(url.host == "example.com")
    #expect(url.text == "https://Example.COM/a%20b?c")
    #expect(url.login == HTTPHeader("Authorization", "Basic \(Data("User:".utf8).base64EncodedString())"))
    #expect(CurlURL("https://example.com/@a:b")?.login == nil)
    for none in ["@", ":@"] { #expect(CurlURL("https://\(none)example.com/")?.login == nil) }
    // Logins are bytes: of Latin-1, or anything else.
    #expect(
      CurlURL("https://%e9:%01%@example.com/")?.login?.value
        == "Basic \(Data([0xe9, UInt8(ascii: ":"), 1, UInt8(ascii: "%")]).base64EncodedString())")
    #expect(url.port == 443)
    #expect(url.site == "https://example.com:443")
    #expect(CurlURL("http://") == nil)
    #expect(CurlURL("no url") == nil)
  }
}
