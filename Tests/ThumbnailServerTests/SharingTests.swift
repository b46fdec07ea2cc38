@testable import ThumbnailCore
@testable import ThumbnailServer
@testable import Thumbnailer

/// A shared gallery as its visitors see it, and what an attacker tries.
@Suite(.timeLimit(.minutes(5))) struct SharingTests {
  private static let password = "correct-horse"
  /// `é` in one character, and as a letter with an accent: two folders.
  private static let files = ["a/1.jpg", "a/2.jpg", "ab/3.jpg", "4.jpg", "\u{e9}/5.jpg", "e\u{301}/6.jpg"]

  /// A shared folder, and a visitor of it with a cookie.
  private struct Visit {
    let directory: TemporaryDirectory
    let fixture: ServiceFixture
    let login: Login
    let links: ShareLinks
    var cookie = ""
    var token = ""
    /// The part of addresses before all others: that of a link.
    var base = ""

    init() throws {
      directory = try TemporaryDirectory()
      let folder = directory.url.appending(path: "pictures")
      for file in SharingTests.files {
        let url = folder.appending(path: file)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: TestImages.url("formats/jpeg-420.jpg"), to: url)
      }
      let login = Login(password: SharingTests.password)
      let links = ShareLinks(in: directory.url.appending(path: "cache"), gallery: folder.path)
      (self.login, self.links) = (login, links)
      fixture = try ServiceFixture {
        $0.gallery = .folder(FolderIndex(path: folder.path))
        $0.sharing = Sharing(login: login, links: links, host: "192.0.2.7")
      }
    }

    func get(_ path: String, _ headers: HTTPHeaders = [:]) async -> ServerResponse {
      await fixture.get(base + path, HTTPHeaders([("cookie", cookie)] + Array(headers)))
    }

    func post(_ path: String, _ message: String, _ headers: HTTPHeaders = [:]) async -> ServerResponse {
      let own = [("cookie", cookie), (RequestGuard.tokenField, token)]
      return await fixture.post(base + path, Data(message.utf8), HTTPHeaders(own + Array(headers)))
    }

    /// The same server as somebody with the password sees it.
    func entered() async throws -> Visit {
      var visit = self
      let response = await post("/login", "password=\(SharingTests.password)")
      visit.cookie = String(try #require(response["set-cookie"]).prefix { $0 != ";" })
      visit.token = try #require(await visit.get("/api/gallery").object["token"] as? String)
      return visit
    }

    /// The same server as somebody with a link sees it.
    func guest(_ scope: String) async throws -> Visit {
      let made = await post("/api/link", scope)
      let path = try #require(made.object["path"] as? String, "\(made.text)")
      var visit = self
      (visit.cookie, visit.base) = ("", String(path.dropLast()))
      visit.token = try #require(await visit.get("/api/gallery").object["token"] as? String)
      return visit
    }

    func begin(_ query: String = "") async throws -> String {
      let begun = await post("/api/sessions", #"{"query":"\#(query)","order":"name"}"#)
      return try #require(begun.object["id"] as? String, "\(begun.text)")
    }

    /// The images of a session, once there are so many.
    func items(_ count: Int, of session: String) async -> [[String: Any]] {
      var items: [[String: Any]] = []
      await poll {
        for version in 0...9 {
          let object = await get("/api/sessions/\(session)/items?version=\(version)&from=0").object
          items = object["items"] as? [[String: Any]] ?? items
        }
        return items.count == count
      }
      return items
    }
  }

  @Test func whoHasNoPasswordSeesTheFormAndNothingElse() async throws {
    let visit = try Visit()
    let page = await visit.get("/?open=a/1.jpg")
    #expect(page.status == .ok && page.text.contains("action=\"/login?next=%2F%3Fopen%3Da%2F1%2Ejpg\""))
    #expect(page["cache-control"] == "no-store")
    #expect(page["content-security-policy"]?.contains("form-action 'self'") == true)
    for file in ["look.css", "gallery.css"] { #expect(await visit.get("/page/\(file)").status == .ok) }
    for path in ["/api/gallery", "/api/sessions/1/items", "/picture/00/40x40-cover", "/s/1.2/api/gallery"] {
      let refused = await visit.get(path)
      #expect(refused.status == .forbidden && refused.object["error"] as? String == "no-login", "\(path)")
    }
    for path in ["/healthz", "/readyz"] { #expect(await visit.get(path).status == .ok) }
  }

  @Test func nothingOfTheWebIsServedToAnybody() async throws {
    let visit = try Visit()
    for visit in [visit, try await visit.entered()] {
      for path in ["/thumb/40/https%3A%2F%2Fexample.org%2Fa.jpg", "/metrics", "/help"] {
        #expect(await visit.get(path).status == .notFound, "\(path)")
      }
      #expect(await visit.post(nextcloudPreview(4, 4), "x").status == .notFound)
      #expect(await visit.fixture.get("/cache?host=a", method: .DELETE).status == .notFound)
    }
  }

  @Test func eachLoginHasANewCookieThatNobodyElseCanChoose() async throws {
    let visit = try Visit()
    let chosen = "thumbs-8080=chosen.chosen"
    let first = await visit.post("/login", "password=correct-horse", ["cookie": chosen])
    let second = await visit.post("/login", "password=correct-horse")
    #expect(first.status == .seeOther && first["location"] == "/" && first["cache-control"] == "no-store")
    let cookies = try [first, second].map { try #require($0["set-cookie"]) }
    #expect(cookies[0] != cookies[1] && !cookies[0].contains("chosen"))
    #expect(cookies.allSatisfy { $0.hasPrefix("thumbs-8080=") && $0.hasSuffix("; Path=/; HttpOnly; SameSite=Strict") })
    let value = String(cookies[0].prefix { $0 != ";" })
    #expect(await visit.get("/api/gallery", ["cookie": "a=b; \(value)"]).status == .ok)
    let altered = value.dropLast() + (value.hasSuffix("A") ? "B" : "A")
    let other = try await Visit().entered().cookie
    for cookie in [
      chosen, String(altered), other, value.replacing("8080", with: "8081"), "thumbs-8080=.", "thumbs-8080=",
    ] {
      #expect(await visit.get("/api/gallery", ["cookie": cookie]).status == .forbidden, "\(cookie)")
    }
  }

  @Test func theAddressThatWasAskedForIsShownAfterThePasswordIfItIsOfThisSite() async throws {
    let visit = try Visit()
    // A password that was copied may have spaces around it.
    for (next, location) in [
      ("/?album=a&open=a%2F1.jpg", "/?album=a&open=a%2F1.jpg"), ("/?x=//evil.example", "/?x=//evil.example"),
      ("//evil.example/?a", "/"), ("/\\evil.example", "/"), ("https://evil.example/?a", "/"), ("/api/gallery", "/"),
      ("/?a\r\nset-cookie: b=c", "/"), ("", "/"),
    ] {
      let encoded = try #require(next.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
      let login = "/login?next=\(encoded)"
      let client = "192.0.2.\(next.utf8.count)"
      func enter(_ password: String) async -> ServerResponse {
        await visit.fixture.respond(
          ServerRequest(
            .POST, login, headers: ["host": "localhost"], body: ByteBuffer(string: "password=\(password)"),
            client: client))
      }
      #expect(await enter("wrong").text.contains("action=\"\(login)\""))
      #expect(await enter("+%20correct-horse%0D%0A")["location"] == location, "\(next)")
    }
    let injected = await visit.get("/?\"><script>")
    #expect(!injected.text.contains("<script>"))
  }

  @Test func theCookieIsSecureIfTheRequestCameByTLS() async throws {
    let visit = try Visit()
    for isSecure in [true, false] {
      let response = await visit.fixture.respond(
        ServerRequest(
          .POST, "/login", headers: ["host": "localhost", "x-forwarded-proto": "https"],
          body: ByteBuffer(string: "password=correct-horse"), isSecure: isSecure))
      #expect(response["set-cookie"]?.hasSuffix("; Secure") == isSecure)
    }
  }

  @Test func aDownloadBelongsToTheLoginAndNotToGuests() async throws {
    let visit = try Visit()
    let (owner, other) = (try await visit.entered(), try await visit.entered())
    let session = try await owner.begin()
    _ = await owner.items(6, of: session)
    let made = await owner.post("/api/sessions/\(session)/zip", "{}")
    let path = try #require(made.object["path"] as? String, "\(made.text)")
    #expect(await owner.get(path, ["range": "bytes=0-3"]).status == .partialContent)
    #expect(await other.get(path).status == .notFound)
    #expect(await visit.get(path).status == .forbidden)
    let guest = try await owner.guest(#"{"folder":"a","days":1}"#)
    #expect(await guest.get(path).status == .notFound)
    let shown = try await guest.begin()
    #expect(await guest.post("/api/sessions/\(shown)/zip", "{}").status == .notFound)
  }

  @Test func linksAreListedForTheOwnerAndEndOneByOne() async throws {
    let owner = try await Visit().entered()
    let first = try await owner.guest(#"{"folder":"a","days":1}"#)
    let second = try await owner.guest(#"{"ids":["4.jpg","ab/3.jpg"],"days":7}"#)
    let links = await owner.get("/api/links").object["links"] as? [[String: Any]] ?? []
    #expect(links.map { $0["folder"] as? String } == ["a", nil] && links.map { $0["count"] as? Int } == [0, 2])
    #expect(links.allSatisfy { ($0["until"] as? Int ?? 0) > ($0["made"] as? Int ?? .max) })
    #expect(links.map { $0["name"] as? String } == [nil, "4.jpg"])
    #expect(await first.get("/api/links").status == .notFound)
    let message = #"{"id":"\#(links.first?["id"] as? String ?? "")"}"#
    #expect(await first.post("/api/links/end", message).status == .notFound)
    for _ in 0..<2 { #expect(await owner.post("/api/links/end", message).status == .noContent) }
    let (ended, other) = (await first.get(""), await second.get(""))
    #expect(ended.status == .notFound && other.status == .ok)
    #expect((await owner.get("/api/links").object["links"] as? [Any])?.count == 1)
  }

  @Test func attemptsAreFewForAnAddressAndItsNetwork() async throws {
    let visit = try Visit()
    func attempt(_ password: String, _ client: String, _ path: String = "/login") async -> ServerResponse {
      await visit.fixture.respond(
        ServerRequest(
          .POST, path, headers: ["host": "localhost"], body: ByteBuffer(string: "password=\(password)"), client: client)
      )
    }
    for _ in 0..<4 { #expect(await attempt("wrong", "2001:db8::1").status == .forbidden) }
    // Trying tickets is no way around.
    #expect(await attempt("", "2001:db8::2", "/login/wrong").status == .forbidden)
    let refused = await attempt("correct-horse", "2001:db8::3")
    #expect(refused.status == .tooManyRequests && refused["retry-after"] == "10" && refused["set-cookie"] == nil)
    #expect(refused.text.contains("try again in 10 seconds"))
    #expect(await attempt("correct-horse", "2001:db8:0:1::1").status == .seeOther)
    #expect(await attempt("", "2001:db8::3", "/login/\(visit.login.ticket)").status == .seeOther)
  }

  @Test func manyAddressesTogetherHaveFewAttemptsAndLockOutNobodyWhoIsKnown() async throws {
    let visit = try Visit()
    func attempt(_ password: String, _ client: String, _ path: String = "/login") async -> UInt {
      let body = ByteBuffer(string: "password=\(password)")
      return await visit.fixture.respond(
        ServerRequest(.POST, path, headers: ["host": "localhost"], body: body, client: client)
      ).status.code
    }
    #expect(await attempt(Self.password, "192.0.2.1") == 303)
    var statuses: [UInt: Int] = [:]
    for number in 0..<200 { statuses[await attempt("wrong", "10.0.0.\(number)"), default: 0] += 1 }
    #expect(statuses[403] ?? 0 >= 99 && statuses[429] ?? 0 > 50, "\(statuses)")
    // One more in ten seconds.
    var late: [UInt] = []
    for number in 1...3 { late.append(await attempt(Self.password, "198.51.100.\(number)")) }
    #expect(late.contains(429))
    #expect(await attempt(Self.password, "192.0.2.1") == 303)
    #expect(await attempt("", "198.51.100.9", "/login/\(visit.login.ticket)") == 303)
    #expect(await attempt(Self.password, "198.51.100.9") == 303)
  }

  @Test func theAddressOfTheCodeLogsInAndLeadsToACleanAddress() async throws {
    let visit = try Visit()
    #expect(visit.login.ticket.count == 20 && Login(password: "").ticket != visit.login.ticket)
    let response = await visit.get("/login/\(visit.login.ticket)")
    #expect(response.status == .ok && response["refresh"] == "0; url=/" && response["referrer-policy"] == "no-referrer")
    #expect(response["set-cookie"] != nil && !response.text.contains(visit.login.ticket))
    let old = await visit.get("/login/correct-horse")
    #expect(old.status == .forbidden && old.text.contains("scan the one that is shown now"))
  }

  @Test func anotherSiteCanNeitherLogInNorMakeALink() async throws {
    let visit = try Visit()
    for headers: HTTPHeaders in [
      ["origin": "http://evil.example"], ["origin": "null"], ["sec-fetch-site": "cross-site"],
    ] {
      #expect(
        await visit.post("/login", "password=correct-horse", headers).object["error"] as? String == "wrong-origin")
    }
    #expect(await visit.get("/", ["host": "evil.example"]).status == .misdirectedRequest)
    var owner = try await visit.entered()
    owner.token = "other"
    #expect(await owner.post("/api/link", #"{"folder":"a","days":1}"#).object["error"] as? String == "no-token")
  }

  @Test func aLinkToAFolderShowsItsPicturesAndNothingElse() async throws {
    let owner = try await Visit().entered()
    let all = await owner.items(6, of: try await owner.begin())
    let guest = try await owner.guest(#"{"folder":"a","days":1}"#)
    #expect(await guest.get("").text.contains("<dialog id=\"viewer\">"))
    let gallery = await guest.get("/api/gallery").object
    #expect(
      gallery["title"] as? String == "Pictures" && gallery["isGuest"] as? Bool == true && gallery["shares"] == nil)
    let session = try await guest.begin("b")
    let items = await guest.items(2, of: session)
    #expect(items.compactMap { $0["name"] as? String } == ["1.jpg", "2.jpg"])
    #expect(items.allSatisfy { $0["download"] == nil && ($0["id"] as? String)?.contains("/") == false })
    for item in all {
      let (key, id) = (try #require(item["key"] as? String), try #require(item["id"] as? String))
      let isShown = id.utf8.starts(with: "a/".utf8)
      #expect(await guest.get("/picture/\(key)/40x40-cover").status == (isShown ? .ok : .notFound), "\(id)")
      for secret in ["original", "details"] {
        #expect(await guest.get("/picture/\(key)/\(secret)").status == .notFound)
      }
    }
    let wanted = #"{"version":1,"ids":["\#(items[1]["key"] as? String ?? "")","a/1.jpg"]}"#
    let places = await guest.post("/api/sessions/\(session)/positions", wanted)
    #expect(places.object["positions"] as? [Int] == [1, -1])
    for (change, message) in [("search", #"{"query":"a"}"#), ("delete", #"{"ids":["a/1.jpg"]}"#), ("undo", "{}")] {
      #expect(await guest.post("/api/sessions/\(session)/\(change)", message).status == .notFound)
    }
    #expect(await guest.post("/api/link", #"{"folder":"ab","days":1}"#).status == .notFound)
    #expect(await guest.post("/api/sessions/\(session)/order", #"{"order":"name"}"#).status == .noContent)
    // A session belongs to the link that began it.
    let others = try await owner.begin()
    #expect(await guest.get("/api/sessions/\(others)/items?version=1&from=0").status == .notFound)
    #expect(await owner.get("/api/sessions/\(session)/items?version=1&from=0").status == .notFound)
  }

  @Test func whatIsHiddenIsNoLongerShownByLinks() async throws {
    let owner = try await Visit().entered()
    let guest = try await owner.guest(#"{"folder":"a","days":1}"#)
    let (own, session) = (try await owner.begin(), try await guest.begin())
    _ = await owner.items(6, of: own)
    let path = "/picture/\(try #require(await guest.items(2, of: session).first?["key"] as? String))/40x40-cover"
    #expect(await guest.get(path).status == .ok)
    #expect(await owner.post("/api/sessions/\(own)/delete", #"{"ids":["a/1.jpg"]}"#).status == .noContent)
    #expect(await guest.get(path).status == .notFound)
    #expect(await owner.get(path).status == .ok)
    #expect(await guest.items(1, of: session).first?["name"] as? String == "2.jpg")
    #expect(await owner.post("/api/sessions/\(own)/undo", #"{"ids":["a/1.jpg"]}"#).status == .ok)
    #expect(await guest.get(path).status == .ok)
    #expect(await guest.items(2, of: session).count == 2)
    // So is what is marked now.
    try Data().write(to: owner.directory.url.appending(path: "pictures/a/.nomedia"))
    #expect(await guest.get(path).status == .notFound)
  }

  @Test func guestsTakeNoSessionsFromTheOwnerNorMoreThanTheirs() async throws {
    let owner = try await Visit().entered()
    let own = try await owner.begin()
    let guest = try await owner.guest(#"{"folder":"a","days":1}"#)
    var streams: [AsyncStream<ByteBuffer>] = []
    for _ in 0..<32 {
      guard case .stream(let parts) = await guest.get("/api/sessions/\(try await guest.begin())/events").body else {
        break
      }
      streams.append(parts)
      for await _ in parts { break }
    }
    #expect(streams.count == 32)
    #expect(await guest.post("/api/sessions", #"{"query":""}"#).status == .serviceUnavailable)
    // Sessions without a page give way to others of guests.
    let other = try await owner.guest(#"{"folder":"a","days":1}"#)
    for _ in 0..<260 { _ = try await other.begin() }
    _ = try await owner.begin()
    let place = await owner.post("/api/sessions/\(own)/positions", #"{"version":0,"ids":["4.jpg"]}"#)
    #expect(place.object["error"] as? String != "no-session")
    withExtendedLifetime(streams) {}
  }

  @Test func aLinkToPicturesShowsThoseOfTheSameBytes() async throws {
    let owner = try await Visit().entered()
    let guest = try await owner.guest(#"{"ids":["4.jpg","é/5.jpg","none.jpg"],"days":30}"#)
    let items = await guest.items(2, of: try await guest.begin())
    #expect(Set(items.compactMap { $0["name"] as? String }) == ["4.jpg", "5.jpg"])
    let folder = try await owner.guest(#"{"folder":"é","days":1}"#)
    #expect(await folder.items(1, of: try await folder.begin()).first?["name"] as? String == "5.jpg")
    for message in [
      #"{"days":1}"#, #"{"folder":"","days":1}"#, #"{"ids":[],"days":1}"#, #"{"folder":"a","days":0}"#,
      #"{"folder":"a","days":32}"#, #"{"folder":"/","days":1}"#, #"{"folder":"//","days":1}"#,
      #"{"folder":"a/","days":1}"#,
    ] {
      #expect(await owner.post("/api/link", message).status == .badRequest, "\(message)")
    }
  }

  @Test(arguments: [
    ("a", ["a/1.jpg", "//a/%e9.jpg"], ["//%e9.jpg", "//ab/%e9.jpg", "a"]),
    ("//%e9", ["//%e9/1.jpg"], ["//%e9.jpg", "//%e9a/1.jpg", "%e9/1.jpg"]), ("/", [], ["//%e9.jpg", "a/1.jpg"]),
  ]) func aFolderIsComparedByBytes(folder: String, inside: [String], outside: [String]) {
    let link = ShareLink(id: "", until: 0, folder: "\(folder)/", photos: [])
    #expect(inside.allSatisfy(link.contains) && !outside.contains(where: link.contains))
  }

  @Test func anAlteredLinkIsNone() async throws {
    let owner = try await Visit().entered()
    let tokens = try await [owner.guest(#"{"folder":"a","days":1}"#), owner.guest(#"{"folder":"ab","days":1}"#)]
      .map { String($0.base.dropFirst("/s/".count)) }
    for index in tokens[0].indices {
      var altered = tokens[0]
      altered.replaceSubrange(index...index, with: altered[index] == "f" ? "e" : "f")
      #expect(owner.links.link(altered) == nil, "\(altered)")
    }
    let parts = tokens.map { $0.split(separator: ".") }
    #expect(owner.links.link("\(parts[0][0]).\(parts[1][1])") == nil)
    for token in ["", ".", "\(parts[0][0])", "\(parts[0][0]).", "\(tokens[0]).", "\(tokens[0]).a"] {
      #expect(owner.links.link(token) == nil, "\(token)")
    }
    let page = await owner.get("/s/\(parts[0][0]).x")
    #expect(page.status == .notFound && page.text.contains("it has ended"))
    // Nobody who has the cookie sees more by a link.
    #expect(await owner.get("/s/\(tokens[0])/picture/0/original").status == .notFound)
    #expect(ShareLinks(in: nil, gallery: "").link(tokens[0]) == nil)
  }

  @Test func aLinkEndsAndLastsUntilThenEvenIfTheServerIsStartedAnew() async throws {
    let directory = try TemporaryDirectory()
    let links = ShareLinks(in: directory.url, gallery: "/pictures")
    let now = Date(timeIntervalSince1970: 1_000_000)
    let (link, token) = try await links.add(folder: "a", photos: [], days: 7, at: now)
    #expect(link.until == 1_000_000 + 7 * 86_400)
    let later = ShareLinks(in: directory.url, gallery: "/pictures")
    for links in [links, later] {
      #expect(links.link(token, at: Date(timeIntervalSince1970: Double(link.until) - 1))?.folder == "a/")
      #expect(links.link(token, at: Date(timeIntervalSince1970: Double(link.until))) == nil)
    }
    #expect(ShareLinks(in: directory.url, gallery: "/other").link(token, at: now) == nil)
    let folder = directory.url.appending(path: "links")
    let file = try #require(FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).first)
    #expect(try FileState(of: RawPath(fileURL: file)).permissions == 0o600)
    // What has ended is forgotten with the next link.
    let (other, _) = try await later.add(folder: "b", photos: [], days: 1, at: Date(timeIntervalSince1970: 2_000_000))
    #expect(try String(contentsOf: file, encoding: .utf8).contains(other.id))
    #expect(try !String(contentsOf: file, encoding: .utf8).contains(link.id))
  }

  @Test func allServersHaveTheLinksOfTheFileAndNoneWithoutIt() async throws {
    let directory = try TemporaryDirectory()
    let (one, other) = (ShareLinks(in: directory.url, gallery: ""), ShareLinks(in: directory.url, gallery: ""))
    let (link, token) = try await one.add(folder: "a", photos: [], days: 1)
    #expect(one.link(token) != nil && other.link(token) != nil && !one.hasEnded(link))
    let (_, second) = try await other.add(folder: "b", photos: [], days: 1)
    #expect(one.link(second) != nil && one.link(token) != nil)
    try FileManager.default.removeItem(at: directory.url.appending(path: "links"))
    #expect(one.link(token) == nil && other.link(second) == nil && one.hasEnded(link))
    let (_, third) = try await one.add(folder: "c", photos: [], days: 1)
    for links in [one, other, ShareLinks(in: directory.url, gallery: "")] {
      #expect(links.link(token) == nil && links.link(second) == nil && links.link(third) != nil)
    }
  }

  @Test func serversThatChangeTheLinksAtOnceLoseNone() async throws {
    let directory = try TemporaryDirectory()
    let servers = (0..<8).map { _ in ShareLinks(in: directory.url, gallery: "") }
    let ended = try await servers[0].add(folder: nil, photos: ["0"], days: 1).link.id
    try await PrivateFile.$patience.withValue(.seconds(86_400)) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for server in servers {
          group.addTask { for _ in 0..<5 { _ = try await server.add(folder: nil, photos: ["1"], days: 1) } }
        }
        group.addTask { try await servers[1].end(ended) }
        try await group.waitForAll()
      }
    }
    let links = try servers[7].all
    #expect(links.count == 40 && !links.contains { $0.id == ended })
  }

  @Test func linksThatCannotBeReadAreNotReplacedAndDamagedOnesAreSetAside() async throws {
    let directory = try TemporaryDirectory()
    let links = ShareLinks(in: directory.url, gallery: "")
    let (link, token) = try await links.add(folder: "a", photos: [], days: 1)
    let folder = directory.url.appending(path: "links")
    let file = try #require(FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).first)
    let stored = try Data(contentsOf: file)
    #expect(links.unreadablePath == nil)
    // Rights do not keep root from a file; that it is a folder does.
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    #expect(links.unreadablePath == file.path && links.link(token) == nil)
    func isRefused(_ problem: any Error) -> Bool { (problem as? ServerResponse.Problem)?.status == .serviceUnavailable }
    await #expect { _ = try await links.add(folder: "b", photos: [], days: 1) } throws: { isRefused($0) }
    await #expect { try await links.end(link.id) } throws: { isRefused($0) }
    #expect { _ = try links.all } throws: { isRefused($0) }
    try FileManager.default.removeItem(at: file)
    try stored.write(to: file)
    #expect(links.link(token) != nil)
    try stored.prefix(40).write(to: file)
    let (_, next) = try await links.add(folder: "b", photos: [], days: 1)
    #expect(links.link(next) != nil && links.link(token) == nil && links.unreadablePath == nil)
    #expect(try Data(contentsOf: file.appendingPathExtension("damaged")) == stored.prefix(40))
    // One that its owner may be mending stays.
    try stored.prefix(30).write(to: file)
    #expect(links.link(next) == nil && links.unreadablePath == nil)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names.map { $0.dropFirst(32) } == [".json.damaged", ".json.damaged-1"])
  }

  @Test func aLinkThatCannotBeStoredIsNotMadeAndTooManyAreRefused() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "links")
    try Data().write(to: file)
    let links = ShareLinks(in: directory.url, gallery: "")
    await #expect { _ = try await links.add(folder: "a", photos: [], days: 1) } throws: {
      ($0 as? ServerResponse.Problem)?.code == "not-stored"
    }
    let unstored = ShareLinks(in: nil, gallery: "")
    let (_, token) = try await unstored.add(folder: "a", photos: [], days: 1)
    #expect(unstored.link(token) != nil)
    let photos = (0..<600).map { "\($0)" + String(repeating: "x", count: 4000) }
    _ = try await unstored.add(folder: nil, photos: photos, days: 1)
    await #expect { _ = try await unstored.add(folder: nil, photos: photos, days: 1) } throws: {
      ($0 as? ServerResponse.Problem)?.code == "too-many-links"
    }
  }
}
